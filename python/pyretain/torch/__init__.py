"""PyTorch: modules of your own as the net, data loaders in, weights both ways.

``Learner`` trains a module by retain's protocol: replay, averages, schedules, checkpoints,
metrics. On a CPU the module's parameters are the library's own arrays; on another device they
are copied there once a pass.

For a loop of your own there are its parts, none of which owns the loop: ``Memory`` (replay from
disk), ``Pictures`` (photos in a memory as batches), ``AMA`` and ``MALR`` (averages and rates), ``Run``
(metrics, events, the page). Callbacks for Lightning are in ``pyretain.torch.lightning``, plugins for
Avalanche in ``pyretain.torch.avalanche``.

Weights have PyTorch's names: ``mlp:64`` is ``nn.Sequential(Linear, ReLU, Linear)``, resnets
are torchvision's. A learner of vectors standardises its inputs first; ``Scale`` is that part.
"""

from __future__ import annotations

from pyretain.torch.averages import AMA, MALR, Due, Guide, Schedule, Verdict
from pyretain.torch.learner import Learner
from pyretain.torch.memory import Batch, Memory, ReplayDataset, ReplaySampler
from pyretain.torch.pictures import Loaded, Pictures
from pyretain.torch.run import Metrics, Run
from pyretain.torch.weights import Scale, feed, load_state_dict, state_dict

__all__ = [
    "AMA",
    "Batch",
    "Due",
    "Guide",
    "Learner",
    "Loaded",
    "MALR",
    "Memory",
    "Metrics",
    "Pictures",
    "ReplayDataset",
    "ReplaySampler",
    "Run",
    "Scale",
    "Schedule",
    "Verdict",
    "feed",
    "load_state_dict",
    "state_dict",
]
