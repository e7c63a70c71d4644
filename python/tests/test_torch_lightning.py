"""Callbacks for Lightning, under its own trainer."""

import os
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="there is no PyTorch")
try:
    import lightning.pytorch as pl
except ImportError:
    pl = pytest.importorskip("pytorch_lightning", reason="there is no Lightning")

from pyretain import runs  # noqa: E402
from pyretain.torch.lightning import AMA, MALR, Report  # noqa: E402
from test_torch_parts import one_thread  # noqa: E402, F401


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
        self.validated = []

    def forward(self, inputs):
        return self.net(inputs)

    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])

    def validation_step(self, batch, index):
        self.validated.append(self.net[0].weight.detach().clone())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.2, momentum=0.9)


def loaders(stream):
    data = [tuple(map(torch.from_numpy, one)) for one in stream(60, count=16)]
    whole = torch.utils.data.TensorDataset(*(torch.cat(part) for part in zip(*data)))
    held = torch.utils.data.TensorDataset(*(part[:64] for part in whole.tensors))
    return torch.utils.data.DataLoader(whole, 16), torch.utils.data.DataLoader(held, 32)


def fit(folder, stream, epochs, path=None, **more):
    train, held = loaders(stream)
    ama = AMA(validation=held, every=2, schedule_validate_every=5)
    malr = MALR(ama, window=20, patience=20, schedule_c3=False)
    report = Report(ama, str(folder / "run"), batch=16)
    net = Net()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = pl.Trainer(
            max_epochs=epochs, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
            enable_model_summary=False, num_sanity_val_steps=0, callbacks=[ama, malr, report], **more,
        )
        trainer.fit(net, train, held, ckpt_path=path)
    return net, ama, malr, report, trainer


def test_a_trainer_learns_with_averages(tmp_path, stream):
    net, ama, malr, report, trainer = fit(tmp_path, stream, 3)
    assert ama.made().iteration == 181 and malr.rate < 0.2
    assert trainer.optimizers[0].param_groups[0]["lr"] == malr.rate
    # The trainer validated what serves, and trains on with its own weights.
    serving = ama.made().weights()["net.0.weight"]
    assert any(torch.equal(one, serving) for one in net.validated[-2:])
    assert not torch.equal(net.net[0].weight, serving)
    metrics = report.run.metrics()
    assert metrics.steps == 180 and metrics.iterations == 180 and metrics.le > 0.85
    assert os.path.exists(tmp_path / "run" / "report.html")
    assert (runs.Run(tmp_path / "run").events["event"] == "cut").any()
    report.run.close()


def test_it_goes_on_from_lightnings_checkpoint(tmp_path, stream):
    os.makedirs(tmp_path / "a")
    whole = fit(tmp_path / "a", stream, 2)
    whole[3].run.close()
    first = fit(tmp_path / "b", stream, 1)
    first[4].save_checkpoint(tmp_path / "checkpoint")
    first[3].run.close()
    second = fit(tmp_path / "b", stream, 2, tmp_path / "checkpoint")
    for a, b in zip(whole[1].made().params, second[1].made().params):
        assert all(torch.equal(a[name], b[name]) for name in a)
    assert second[2].rate == whole[2].rate and second[3].run.metrics().steps == 120
    second[3].run.close()


def test_accumulated_gradients_are_one_iteration(tmp_path, stream):
    net, ama, malr, report, trainer = fit(tmp_path, stream, 1, accumulate_grad_batches=4)
    assert ama.made().iteration == 16
    assert np.isfinite(report.run.metrics().le)
    report.run.close()
