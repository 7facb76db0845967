"""The numbers of a trained model, as they ship."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.forest import TreeNodes
from scraper.extract.content.neural_net import AttentionLayer, AttentionRound
from scraper.extract.content.page_type import PageTypeClassifier

_STEPS = 32_767


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """A trained model."""

    linear: NDArray[np.float32]
    """By bucket."""
    names: tuple[str, ...]
    """The columns that trees, net and page types look at, in their order."""
    forest: TreeNodes
    net: AttentionLayer
    page_types: PageTypeClassifier

    def save(self, file: IO[bytes]) -> None:
        """Write them; equal weights give equal bytes."""
        scale = np.float32(max(float(np.abs(self.linear).max()), 1e-9) / _STEPS)
        packed: dict[str, Any] = {
            "linear": np.round(self.linear / scale).astype(np.int16),
            "linear_scale": scale,
            "names": np.array("\n".join(self.names)),
            "rounds": np.int64(len(self.net.rounds)),
        }
        packed |= _forest_packed(self.forest) | _parts("types", self.page_types) | _parts("net", self.net)
        for number, each in enumerate(self.net.rounds):
            packed |= _parts(f"round{number}", each)
        np.savez_compressed(file, **packed)

    @classmethod
    def load(cls, file: IO[bytes]) -> ModelWeights:
        """Read what `save` wrote."""
        with np.load(file, allow_pickle=False) as data:
            rounds = [
                AttentionRound(**_taken(f"round{number}", AttentionRound, data))
                for number in range(int(data["rounds"]))
            ]
            return cls(
                linear=data["linear"].astype(np.float32) * data["linear_scale"],
                names=tuple(str(data["names"]).split("\n")),
                forest=_forest(data),
                net=AttentionLayer(rounds=tuple(rounds), **_taken("net", AttentionLayer, data)),
                page_types=PageTypeClassifier(**_taken("types", PageTypeClassifier, data)),
            )


def _parts(
    name: str, whole: PageTypeClassifier | AttentionLayer | AttentionRound
) -> dict[str, NDArray[np.generic]]:
    """Each array of a part under a name of its own."""
    parts = {field.name: getattr(whole, field.name) for field in fields(whole)}
    return {f"{name}_{key}": value for key, value in parts.items() if isinstance(value, np.ndarray)}


def _taken(
    name: str, kind: type[PageTypeClassifier | AttentionLayer | AttentionRound], data: np.lib.npyio.NpzFile
) -> dict[str, NDArray[np.float32]]:
    keys = [field.name for field in fields(kind) if f"{name}_{field.name}" in data]
    return {key: data[f"{name}_{key}"] for key in keys}


def _forest_packed(nodes: TreeNodes) -> dict[str, NDArray[np.generic]]:
    return {
        "forest_trees": nodes.trees.astype(np.int16),
        "forest_features": nodes.features.astype(np.int16),
        "forest_thresholds": nodes.thresholds,
        "forest_first": nodes.first.astype(np.uint8),
        "forest_last": nodes.last.astype(np.uint8),
        "forest_leaves": nodes.leaves,
    }


def _forest(data: np.lib.npyio.NpzFile) -> TreeNodes:
    def take(part: str) -> NDArray[np.int64]:
        return np.asarray(data[f"forest_{part}"], np.int64)

    return TreeNodes(
        take("trees"),
        take("features"),
        data["forest_thresholds"],
        take("first"),
        take("last"),
        data["forest_leaves"],
    )
