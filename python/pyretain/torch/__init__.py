"""PyTorch: modules of your own as the net, data loaders in, weights both ways.

``Learner`` trains a module by retain's protocol: replay, averages, schedules, checkpoints,
metrics. On a CPU the module's parameters are the library's own arrays; on another device they
are copied there once a pass.

Weights have PyTorch's names: ``mlp:64`` is ``nn.Sequential(Linear, ReLU, Linear)``, resnets
are torchvision's. A learner of vectors standardises its inputs first; ``Scale`` is that part.
"""

from __future__ import annotations

from pyretain.torch.learner import Learner
from pyretain.torch.weights import Scale, feed, load_state_dict, state_dict

__all__ = ["Learner", "Scale", "feed", "load_state_dict", "state_dict"]
