"""Writes torch.safetensors, a pair of real torch.nn.Sequential as users train and export them, and torch_reference.safetensors,
what PyTorch itself gives in float64: python3 tests/networks/write_torch_fixture.py (needs numpy and torch; written by 2.15).
"""

import copy
import sys
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))
from export_network import Part, export, write_safetensors  # noqa: E402
from write_fixtures import basis, matrix  # noqa: E402

JOINTS, MUSCLES, HIDDEN, COMPONENTS, POSES = 3, 2, 8, (4, 3), 6


def trained(inputs, targets, layers):
    """A few steps, so that running means and variances are those of data."""
    network = torch.nn.Sequential(*layers)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    network.train()
    for _ in range(50):
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(network(inputs), targets).backward()
        optimiser.step()
    return network.eval()


def main():
    torch.manual_seed(5)
    random = np.random.default_rng(5)
    nn = torch.nn
    quaternions = random.normal(size=(64, JOINTS, 4)) * [0.3, 0.3, 0.3, 0.0] + [0, 0, 0, 1]
    quaternions = (quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)).astype("<f4")
    activations = random.uniform(0, 1, (64, MUSCLES)).astype("<f4")
    reads = (matrix(quaternions.astype("f8")).reshape(64, -1), activations.astype("f8"))
    norm_last = [
        nn.Linear(9 * JOINTS, HIDDEN), nn.ReLU(), nn.BatchNorm1d(HIDDEN), nn.Dropout(0.1),
        nn.Linear(HIDDEN, HIDDEN, bias=False), nn.BatchNorm1d(HIDDEN), nn.ReLU(),
        nn.Linear(HIDDEN, COMPONENTS[0]),
    ]  # fmt: skip
    plain = [
        nn.Linear(MUSCLES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
        nn.BatchNorm1d(HIDDEN, affine=False), nn.Linear(HIDDEN, COMPONENTS[1]),
    ]  # fmt: skip
    mean = 0.002 * random.normal(size=(150, 3))
    deltas, parts = mean + np.zeros((POSES, 150, 3)), []
    for inputs, components, layers in zip(reads, COMPONENTS, (norm_last, plain)):
        input_mean = inputs.mean(axis=0).astype("f4")
        input_scale = np.where(inputs.std(axis=0) > 1e-3, inputs.std(axis=0), 1).astype("f4")
        normalised = (inputs - input_mean) / input_scale
        targets = np.sin(inputs @ random.normal(size=(inputs.shape[1], components)))
        single = torch.as_tensor(normalised, dtype=torch.float32)
        network = trained(single, torch.as_tensor(targets, dtype=torch.float32), layers)
        own = basis(random, components)
        exact = copy.deepcopy(network).double()
        found = exact(torch.as_tensor(normalised)).detach().numpy()
        # Ranges are those of all poses: none is clamped.
        deltas = deltas + np.einsum("pk,kvx->pvx", found[:POSES], own)
        parts.append(Part(network, input_mean, input_scale, own, found))
    names = [f"joint {index}" for index in range(JOINTS)], [f"muscle {index}" for index in range(MUSCLES)]
    export(HERE / "torch.safetensors", *names, "0123456789abcdef", "fedcba9876543210", mean, *parts, precision="F32")
    write_safetensors(
        HERE / "torch_reference.safetensors",
        {"rotations": quaternions[:POSES], "activations": activations[:POSES], "deltas": deltas.astype("<f8")},
        {"poses": str(POSES), "far": "0"},
    )


main()
