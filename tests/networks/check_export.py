"""Checks what tools/export_network.py folds and refuses: python3 tests/networks/check_export.py (needs numpy)."""

import json
import tempfile
from pathlib import Path

import numpy as np

import write_fixtures as fixtures
from export_network import Part, export, fold
from write_fixtures import BatchNorm1d, Linear, ReLU, run

random = np.random.default_rng(5)


def linear(inputs=4, outputs=4):
    return Linear(weight=random.normal(size=(outputs, inputs)), bias=random.normal(size=outputs))


def norm(**given):
    values = {
        "running_mean": random.normal(size=4),
        "running_var": random.uniform(0.5, 2, 4),
        "weight": random.uniform(-1.5, 1.5, 4),
        "bias": random.normal(size=4),
        "eps": 1e-5,
    }
    return BatchNorm1d(**values | given)


def refused(modules, part):
    try:
        fold(modules)
    except ValueError as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"{part}: it was exported")


def folds(modules):
    inputs = random.normal(size=(50, 4))
    outputs = inputs
    for index, (weight, bias) in enumerate(fold(modules)):
        outputs = outputs @ weight.T + bias
        outputs = np.maximum(outputs, 0) if index < 2 else outputs
    error = np.abs(outputs - run(modules, inputs)).max()
    assert error < 1e-12, error


end = [linear(), ReLU(), linear()]
folds([linear(), ReLU(), *end])
folds([linear(), norm(), ReLU(), norm(), *end])
folds([linear(), norm(), norm(), ReLU(), *end])
folds([linear(), ReLU(), norm(), norm(), *end])
folds([linear(), ReLU(), ReLU(), *end])
folds([norm(), linear(), ReLU(), *end])
folds([norm(), norm(), linear(), ReLU(), *end, norm()])
refused([linear(), ReLU(), norm(), ReLU(), *end], "a ReLU and a BatchNorm1d")
refused([ReLU(), linear(), ReLU(), *end], "behind no Linear")
refused([norm(), ReLU(), linear(), ReLU(), *end], "behind no Linear")
refused([linear(), ReLU(), *end, ReLU(), norm()], "has no layer to go into")
refused([linear(), *end], "must be two with ReLU")
refused([linear(), ReLU(), norm(running_var=None), *end], "track_running_stats")
refused([linear(), fixtures.SimpleNamespace()], "SimpleNamespace cannot be exported")

# Numbers of numpy where JSON has its own.
part = Part([linear(9), ReLU(), *end], np.zeros(9), np.ones(9), random.normal(size=(4, 5, 3)), random.normal(size=(6, 4)))
error = {"part": "all", "poses": "training", "count": np.int64(6), "rms": np.float32(0.5), "max": 1.0, "skinning_rms": 1.0}
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "net.safetensors"
    digits = "0123456789abcdef"
    export(path, ["a"], [], digits, digits, np.zeros((5, 3)), passive=part, threshold=np.float32(1e-5), errors=[error])
    written = path.read_bytes()
header = json.loads(written[8 : 8 + int.from_bytes(written[:8], "little")])
network = json.loads(header["__metadata__"]["sinew.network"])
assert network["errors"][0]["count"] == 6 and abs(network["threshold"] - 1e-5) < 1e-12
print("all folds, or is refused")
