"""The numbers of a trained model, as they ship."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from scraper.extract.content.forest import Nodes
from scraper.extract.content.page_type import PageTypes

__all__ = ["Weights"]

_STEPS = 32_767


@dataclass(frozen=True, slots=True)
class Weights:
    """A trained model."""

    linear: NDArray[np.float32]
    """By bucket."""
    names: tuple[str, ...]
    """The columns that the first trees and the page types look at, in their order."""
    first: tuple[Nodes, ...]
    """Forests that differ in how they were grown; the mean of their sums counts."""
    context_names: tuple[str, ...]
    """The columns that the second trees look at: first those of the context, then some of `names`."""
    second: Nodes
    page_types: PageTypes

    def save(self, file: IO[bytes]) -> None:
        """Write them; equal weights give equal bytes."""
        packed: dict[str, Any] = _packed("second", self.second)
        for number, nodes in enumerate(self.first):
            packed |= _packed(f"first{number}", nodes)
        scale = np.float32(max(float(np.abs(self.linear).max()), 1e-9) / _STEPS)
        np.savez_compressed(
            file,
            linear=np.round(self.linear / scale).astype(np.int16),
            linear_scale=scale,
            forests=np.int64(len(self.first)),
            names=np.array("\n".join(self.names)),
            context_names=np.array("\n".join(self.context_names)),
            types_coefficients=self.page_types.coefficients,
            types_intercepts=self.page_types.intercepts,
            types_means=self.page_types.means,
            types_deviations=self.page_types.deviations,
            **packed,
        )

    @classmethod
    def load(cls, file: IO[bytes]) -> Weights:
        """Read what `save` wrote."""
        with np.load(file, allow_pickle=False) as data:
            return cls(
                linear=data["linear"].astype(np.float32) * data["linear_scale"],
                names=tuple(str(data["names"]).split("\n")),
                first=tuple(_nodes(f"first{number}", data) for number in range(int(data["forests"]))),
                context_names=tuple(str(data["context_names"]).split("\n")),
                second=_nodes("second", data),
                page_types=PageTypes(
                    data["types_coefficients"],
                    data["types_intercepts"],
                    data["types_means"],
                    data["types_deviations"],
                ),
            )


def _packed(name: str, nodes: Nodes) -> dict[str, NDArray[np.generic]]:
    return {
        f"{name}_trees": nodes.trees.astype(np.int16),
        f"{name}_features": nodes.features.astype(np.int16),
        f"{name}_thresholds": nodes.thresholds,
        f"{name}_first": nodes.first.astype(np.uint8),
        f"{name}_last": nodes.last.astype(np.uint8),
        f"{name}_leaves": nodes.leaves,
    }


def _nodes(name: str, data: np.lib.npyio.NpzFile) -> Nodes:
    def take(part: str) -> NDArray[np.int64]:
        return np.asarray(data[f"{name}_{part}"], np.int64)

    return Nodes(
        take("trees"),
        take("features"),
        data[f"{name}_thresholds"],
        take("first"),
        take("last"),
        data[f"{name}_leaves"],
    )
