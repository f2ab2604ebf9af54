"""The kernel of a metric: a weighted mean of families, between graphs and landmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._core.parallel import by_threads
from ..._core.progress import progress_bar
from ...features.blocks import NodeBlocks
from ...graphs import Graphs
from .families import Family, VectorFamily, family_of
from .recipes import Recipe

AT_ONCE = 200_000  # nodes of graphs that are described together: their features take a gigabyte at most
_SAME = 1e-6  # how far the least kernel of a family must be from the largest to tell graphs apart

Described = dict[str, Any]  # descriptions of some graphs, by the name of the family


@dataclass
class Describer:
    """Families that were fitted, and the blocks that they read."""

    blocks: NodeBlocks | None  # None where no family reads any
    families: dict[str, Family]

    @classmethod
    def fit(
        cls, recipes: Mapping[str, Recipe], graphs: Graphs, rng: np.random.Generator
    ) -> tuple[Describer, Described]:
        """Families fitted to a sample of graphs, those that tell some of them apart; and the descriptions of these."""
        families = {name: family_of(name, recipe) for name, recipe in recipes.items()}
        names = read_by(families)
        reader = NodeBlocks() if names else None
        blocks = dict(zip(names, reader.fit_transform(graphs, names), strict=True)) if reader else {}
        sizes = graphs_sizes(reader, graphs)
        seeds = dict(zip(families, rng.spawn(len(families)), strict=True))

        def fitted(name: str) -> Any:
            family = families[name]
            family.fit(blocks, sizes, seeds[name])
            described = family.described(graphs, blocks, sizes)
            if isinstance(family, VectorFamily):
                family.settle(described)
            return described

        described = dict(zip(families, by_threads(fitted, families), strict=True))
        return cls(reader, families), described

    def only(self, names: Any) -> Describer:
        """The same with some of the families."""
        families = {name: self.families[name] for name in names}
        read = read_by(families)
        return Describer(self.blocks.only(read) if self.blocks is not None and read else None, families)

    def describe(self, graphs: Graphs, progress: bool | None = False) -> Described:
        """Descriptions of graphs by family; features, which take memory, are computed of some graphs at a time."""
        parts: list[Described] = []
        with progress_bar(progress, "describing", total=len(graphs), unit="graph", delay=2.0) as bar:
            for piece in graphs.pieces(AT_ONCE):
                parts.append(self._described(piece))
                bar.update(len(piece))
        return stacked(parts)

    def _described(self, graphs: Graphs) -> Described:
        blocks = self.read(graphs)
        sizes = graphs_sizes(self.blocks, graphs)
        found = by_threads(lambda family: family.described(graphs, blocks, sizes), self.families.values())
        return dict(zip(self.families, found, strict=True))

    def read(self, graphs: Graphs) -> dict[str, Any]:
        """Blocks of features by name."""
        if self.blocks is None:
            return {}
        return dict(zip(self.blocks.names_, self.blocks.transform(graphs), strict=True))


def graphs_sizes(blocks: NodeBlocks | None, graphs: Graphs) -> dict[str, np.ndarray]:
    """How many points each graph has [G], by cloud."""
    return {"nodes": graphs.sizes} if blocks is None else blocks.sizes(graphs)


def read_by(families: Mapping[str, Family]) -> list[str]:
    """Blocks that families read; pairs of nodes are counted without, vectors of graphs are there."""
    recipes = [family.recipe for family in families.values()]
    return list(
        dict.fromkeys(name for recipe in recipes if recipe.cloud not in ("pairs", "graphs") for name in recipe.names)
    )


def stacked(parts: list[Described]) -> Described:
    """Descriptions of several collections, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return {name: type(first).stacked([part[name] for part in parts]) for name, first in parts[0].items()}


def part_of(described: Described, rows: np.ndarray) -> Described:
    """Descriptions of some graphs, by their indices."""
    return {name: one.part(rows) for name, one in described.items()}


@dataclass
class Mixture:
    """A weighted mean of families, with landmarks as their references.

    Attributes
    ----------
    describer : Describer
        Its families have references.
    weights : dict of float
        By name of the family; they add up to 1.
    """

    describer: Describer
    weights: dict[str, float]

    @classmethod
    def of(cls, describer: Describer, weights: Mapping[str, float], landmarks: Described) -> Mixture:
        """From weights by family, those that are 0 left out, and descriptions of the landmarks."""
        used = {name: float(weight) for name, weight in weights.items() if weight > 0}
        fewer = describer.only(used)
        fewer.families = {name: family.refer_to(landmarks[name]) for name, family in fewer.families.items()}
        return cls(fewer, used)

    def kernel(self, described: Described | None = None) -> np.ndarray:
        """Between N graphs and the M landmarks [N, M], float32; among the landmarks [M, M] without others."""
        total: Any = None
        for name, weight in self.weights.items():
            one = self.describer.families[name].kernel(None if described is None else described[name])
            one *= np.float32(weight)
            total = one if total is None else np.add(total, one, out=total)
        return total

    def diagonal(self, described: Described) -> np.ndarray:
        """k(G, G) of graphs [N]: 1, but for families that grow with the graph."""
        families = self.describer.families
        parts = [weight * families[name].diagonal(described[name]) for name, weight in self.weights.items()]
        return np.sum(parts, axis=0)

    def landmarks(self) -> Described:
        """Descriptions of the landmarks."""
        return {name: family.references() for name, family in self.describer.families.items()}


def family_kernels(describer: Describer, described: Described) -> dict[str, np.ndarray]:
    """Kernels [N, N] among graphs, by family; those that tell no two graphs apart are left out."""
    kernels = {name: family.refer_to(described[name]).kernel() for name, family in describer.families.items()}
    kernels = {name: kernel for name, kernel in kernels.items() if kernel.min() < kernel.diagonal().max() - _SAME}
    if not kernels:
        raise ValueError("all graphs look the same: no block of node features tells any two apart")
    return kernels
