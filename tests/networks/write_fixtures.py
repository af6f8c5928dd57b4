"""Writes the networks beside it, and what they give in float64: python3 tests/networks/write_fixtures.py (needs numpy).

The reference runs the modules one by one, batch norm and all, and the dense basis in float64; it shares no line with the export.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
from export_network import Part, export, write_safetensors  # noqa: E402

JOINTS, MUSCLES, VERTICES, HIDDEN, COMPONENTS = 4, 3, 150, 12, (5, 6)
POSES, FAR_POSES = 5, 3  # the last ones are far outside of training


class Linear(SimpleNamespace):
    def __call__(self, x):
        return x @ self.weight.T + self.bias


class ReLU:
    def __call__(self, x):
        return np.maximum(x, 0)


class BatchNorm1d(SimpleNamespace):
    def __call__(self, x):
        return (x - self.running_mean) / np.sqrt(self.running_var + self.eps) * self.weight + self.bias


def network(random, inputs, components, norm_first):
    def linear(inputs, outputs):
        # Such numbers as float32 has, so that the reference runs the very weights that are exported where no norm is folded.
        weight = random.normal(size=(outputs, inputs)) / np.sqrt(inputs)
        return Linear(weight=weight.astype("f4").astype("f8"), bias=random.normal(size=outputs) * 0.1)

    def norm():
        return BatchNorm1d(
            running_mean=random.normal(size=HIDDEN) * 0.2,
            running_var=random.uniform(0.5, 2, HIDDEN),
            weight=random.uniform(0.5, 1.5, HIDDEN),
            bias=random.normal(size=HIDDEN) * 0.1,
            eps=1e-5,
        )

    def hidden(inputs):
        linear_layer = linear(inputs, HIDDEN)
        return [linear_layer, norm(), ReLU()] if norm_first else [linear_layer, ReLU(), norm()]

    return hidden(inputs) + hidden(HIDDEN) + [linear(HIDDEN, components)]


def run(network, inputs):
    for module in network:
        inputs = module(inputs)
    return inputs


def basis(random, components):
    """Smooth, and each component in its own part of the mesh."""
    along = np.linspace(0, 1, VERTICES)
    middles, width = np.linspace(0.1, 0.9, components), 0.25
    window = np.clip(1 - np.abs(along - middles[:, None]) / width, 0, None)
    direction = random.normal(size=(components, 1, 3)) + 0.3 * random.normal(size=(components, VERTICES, 3))
    return 0.01 * window[:, :, None] * direction


def matrix(quaternion):
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def main():
    random = np.random.default_rng(11)
    poses = POSES + FAR_POSES
    quaternions = random.normal(size=(poses, JOINTS, 4)) * [0.2, 0.2, 0.2, 0.0] + [0, 0, 0, 1]
    quaternions[POSES:] = random.normal(size=(FAR_POSES, JOINTS, 4))
    quaternions = (quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)).astype("<f4")
    activations = random.uniform(0, 1, (poses, MUSCLES)).astype("<f4")
    activations[POSES:] *= 30
    mean = 0.002 * random.normal(size=(VERTICES, 3))

    inputs = (matrix(quaternions.astype("f8")).reshape(poses, -1), activations.astype("f8"))
    deltas, parts = mean + np.zeros((poses, VERTICES, 3)), []
    for reads, components, norm_first in zip(inputs, COMPONENTS, (True, False)):
        net = network(random, reads.shape[1], components, norm_first)
        input_mean = reads[:POSES].mean(axis=0).astype("f4").astype("f8")
        input_scale = np.where(reads[:POSES].std(axis=0) > 1e-3, reads[:POSES].std(axis=0), 1).astype("f4").astype("f8")
        found = run(net, (reads - input_mean) / input_scale)
        own = basis(random, components)
        low, high = (found[:POSES].min(axis=0), found[:POSES].max(axis=0))
        deltas = deltas + np.einsum("pk,kvx->pvx", np.clip(found, low, high), own)
        parts.append(Part(net, input_mean, input_scale, own, found[:POSES]))

    names = [f"joint {index}" for index in range(JOINTS)], [f"muscle {index}" for index in range(MUSCLES)]
    errors = [{"part": "all", "poses": "held out", "count": 3, "rms": 0.001, "max": 0.004, "skinning_rms": 0.01}]
    for precision in ("F32", "F16", "I8"):
        export(
            HERE / f"{precision.lower()}.safetensors", *names, "0123456789abcdef", "fedcba9876543210", mean, *parts,
            precision=precision, threshold=1e-6, errors=errors,
        )
    write_safetensors(
        HERE / "reference.safetensors",
        {"rotations": quaternions, "activations": activations, "deltas": deltas.astype("<f8")},
        {"poses": str(POSES), "far": str(FAR_POSES)},
    )


if __name__ == "__main__":
    main()
