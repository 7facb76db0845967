"""Write the weights of a trained model into the file that the reader loads."""

from __future__ import annotations

from dataclasses import fields
from typing import IO, Any

import numpy as np

from scraper.extract.content.block_classifier import STORED_NAMES, ModelWeights, PageTypeClassifier, TreeNodes
from scraper.extract.content.neural_net import ContextLayerWeights, NeuralNetWeights
from scraper.extract.content.page_statistics import Columns

_QUANTIZATION_STEPS = 32_767
"""Largest 16-bit integer. The linear weights are stored as multiples of their maximum divided by it."""

_FOREST_TYPES = {"forest_trees": "i2", "forest_features": "i2", "forest_first": "u1", "forest_last": "u1"}
"""Types of the integers of the forest."""


def save_weights(weights: ModelWeights, file: IO[bytes]) -> None:
    """Write the weights as a compressed npz archive; equal weights give equal bytes.

    The linear weights are rounded to 16 bits.
    """
    scale = np.float32(max(float(np.abs(weights.linear).max()), 1e-9) / _QUANTIZATION_STEPS)
    arrays: dict[str, Any] = {
        "linear": np.round(weights.linear / scale).astype(np.int16),
        "linear_scale": scale,
        "names": np.array("\n".join(weights.columns)),
        "rounds": np.int64(len(weights.net.rounds)),
    }
    forest = _pack("forest", weights.forest)
    arrays |= {key: values.astype(_FOREST_TYPES.get(key, values.dtype)) for key, values in forest.items()}
    arrays |= _pack("types", weights.page_types) | _pack("net", weights.net)
    for number, layer in enumerate(weights.net.rounds):
        arrays |= _pack(f"round{number}", layer)
    np.savez_compressed(file, **arrays)


def _pack(prefix: str, part: TreeNodes | PageTypeClassifier | NeuralNetWeights | ContextLayerWeights) -> Columns:
    values = {STORED_NAMES.get(field.name, field.name): getattr(part, field.name) for field in fields(part)}
    return {f"{prefix}_{key}": value for key, value in values.items() if isinstance(value, np.ndarray)}
