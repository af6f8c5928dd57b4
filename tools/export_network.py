"""Writes a corrective network for Sinew from a pair of torch.nn.Sequential and their principal component analyses.

Needs numpy; networks may be torch's, or anything with the same attributes. The layout is the table in the documentation of
sinew::neural.

    from export_network import export, Part

    # topology and rest_shape: sinew inspect --json FILE
    export(
        "hero.safetensors", joints, muscles, topology, rest_shape,
        mean=passive_mean + active_mean,                  # vertices x 3, metres, in mesh space
        passive=Part(passive_net, input_mean, input_scale, passive_basis, passive_coefficients),
        active=Part(active_net, activation_mean, activation_scale, active_basis, active_coefficients),
        precision="I8", threshold=1e-5,
    )

Passive inputs are, joint after joint, the rows of R_rest^T R (9 numbers), R the joint's rotation relative to its parent; active ones
are activations. A network reads (x - input_mean) / input_scale and has two hidden layers, each Linear and ReLU, with BatchNorm1d
wherever it folds into a Linear; Dropout is passed over, and what cannot be folded is refused. basis is components x vertices x 3, metres a unit of coefficient, the components in the
order of what they explain; coefficients are those of the training poses (poses x components), of which the ranges are kept.
"""

import json
import struct
from dataclasses import dataclass

import numpy as np

BLOCK = 64  # vertices
VERSION = 1


@dataclass
class Part:
    """One of the two networks."""

    network: object
    input_mean: np.ndarray
    input_scale: np.ndarray
    basis: np.ndarray
    coefficients: np.ndarray


def array(values):
    """A tensor's, or anything's, numbers as float64."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.asarray(values, dtype=np.float64)


def fold(network):
    """[(weight, bias)] of the three layers, batch norms folded into those beside them."""
    layers, rectified = [], []
    scale, shift = None, None  # what batch norms do to what the next layer reads, which takes it in
    for module in network:
        name = type(module).__name__
        if name == "Linear":
            weight = array(module.weight)
            bias = np.zeros(len(weight)) if module.bias is None else array(module.bias)
            if scale is not None:
                weight, bias = weight * scale, bias + weight @ shift
                scale = None
            layers.append((weight, bias))
            rectified.append(False)
        elif name == "ReLU":
            if not layers or scale is not None:
                raise ValueError(f"a ReLU behind {'no Linear' if not layers else 'a ReLU and a BatchNorm1d'} cannot be exported: leave it out, or put a Linear before it")
            rectified[-1] = True
        elif name == "BatchNorm1d":
            if module.running_mean is None or module.running_var is None:
                raise ValueError("a BatchNorm1d without running statistics cannot be exported: train it with track_running_stats=True")
            variance = array(module.running_var) + module.eps
            gain = 1.0 if module.weight is None else array(module.weight)
            offset = 0.0 if module.bias is None else array(module.bias)
            factor = gain / np.sqrt(variance)
            added = offset - array(module.running_mean) * factor
            if layers and not rectified[-1]:
                weight, bias = layers[-1]
                layers[-1] = (weight * factor[:, None], bias * factor + added)
            elif scale is None:
                scale, shift = factor, added
            else:
                scale, shift = scale * factor, shift * factor + added
        elif name != "Dropout":
            raise ValueError(f"{name} cannot be exported: only Linear, ReLU, BatchNorm1d and Dropout can")
    if scale is not None:
        raise ValueError("a BatchNorm1d behind the last ReLU has no layer to go into: put a Linear behind it")
    if rectified != [True, True, False]:
        raise ValueError(f"Linear layers with ReLU {rectified}: there must be two with ReLU, and one without")
    return layers


def store(basis, most, precision, threshold, dropped):
    """The tensors of a basis; what a component moves by no more than the threshold at the ends of its range is left out."""
    components, vertices, _ = basis.shape
    blocks = -(-vertices // BLOCK)
    padded = np.zeros((components, blocks * BLOCK, 3))
    padded[:, :vertices] = basis
    padded = padded.reshape(components, blocks, BLOCK, 3)
    moved = np.linalg.norm(padded, axis=3) * most[:, None, None]
    kept = moved.max(axis=2) > threshold
    dropped += (moved * ~kept[:, :, None]).sum(axis=0).reshape(-1)[:vertices]
    rows = padded[kept]
    tensors = {
        "basis.first": np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype("<u4"),
        "basis.blocks": np.nonzero(kept)[1].astype("<u4"),
    }
    largest = np.abs(rows).max(axis=(1, 2), initial=1e-30)
    if precision == "F32":
        return tensors | {"basis.values": rows.astype("<f4")}
    if precision == "F16":  # powers of two lose nothing
        scale = np.exp2(np.ceil(np.log2(largest)))
        values = (rows / scale[:, None, None]).astype("<f2")
    elif precision == "I8":
        scale = largest / 127
        values = np.rint(rows / scale[:, None, None]).astype("<i1")
    else:
        raise ValueError(f"precision {precision!r}: one of F32, F16, I8")
    return tensors | {"basis.values": values, "basis.scale": scale.astype("<f4")}


def write_safetensors(path, tensors, metadata):
    """Tensors in the format of https://github.com/huggingface/safetensors."""
    names = {"<f8": "F64", "<f4": "F32", "<f2": "F16", "|i1": "I8", "<u4": "U32"}
    tensors = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    header, offset = {"__metadata__": metadata}, 0
    for name, values in tensors:
        header[name] = {
            "dtype": names[values.dtype.str],
            "shape": list(values.shape),
            "data_offsets": [offset, offset + values.nbytes],
        }
        offset += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors:
            file.write(np.ascontiguousarray(values).tobytes())


def export(
    path, joints, muscles, topology, rest_shape, mean, passive=None, active=None, precision="F16", threshold=0.0, errors=()
):
    """Writes the file. errors: dicts with part, poses, count, rms, max, skinning_rms and, if you like, moving, moving_rms,
    moving_skinning_rms, see sinew::neural::ErrorRow."""
    mean = array(mean)
    dropped = np.zeros(len(mean))
    tensors = {"mean": mean.astype("<f4")}
    for name, part, inputs in (("passive", passive, 9 * len(joints)), ("active", active, len(muscles))):
        if (part is None) != (inputs == 0):
            raise ValueError(f"{name}: {inputs} inputs, but {'no' if part is None else 'a'} network")
        if part is None:
            continue
        coefficients, basis = array(part.coefficients), array(part.basis)
        low, high = coefficients.min(axis=0).astype("<f4"), coefficients.max(axis=0).astype("<f4")
        own = {
            "input.mean": array(part.input_mean).astype("<f4"),
            "input.scale": array(part.input_scale).astype("<f4"),
            "coefficients.low": low,
            "coefficients.high": high,
        }
        for index, (weight, bias) in enumerate(fold(part.network)):
            own[f"layers.{index}.weight"] = weight.astype("<f4")
            own[f"layers.{index}.bias"] = bias.astype("<f4")
        most = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
        own |= store(basis, most, precision, threshold, dropped)
        tensors |= {f"{name}.{tensor}": values for tensor, values in own.items()}
    network = {
        "version": VERSION,
        "joints": list(joints),
        "muscles": list(muscles),
        "vertices": len(mean),
        "topology": topology,
        "rest_shape": rest_shape,
        "threshold": float(threshold),
        "dropped": float(dropped.max(initial=0.0)),
        "errors": list(errors),
    }
    # Numbers of numpy, as errors may be, are none of JSON's.
    text = json.dumps(network, default=lambda number: number.item())
    write_safetensors(path, tensors, {"sinew.network": text})
