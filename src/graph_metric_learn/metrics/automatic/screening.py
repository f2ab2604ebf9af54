"""All candidates on a subsample: each is fitted, and its squared distances are kept, by which it is then scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..._core.parallel import in_parallel
from ..._core.progress import progress_bar
from ..._core.threads import one_thread_for_products
from ...features.blocks import cloud_of
from .candidates import embeddings_for
from .sample import Sample
from .terms import Term

_MANY_EDGES = 200  # edges per graph from which they are not transported to a reference
_CONSTANT = 1e-12  # mean squared distance of a candidate that tells no two graphs apart


@dataclass
class Screened:
    """A candidate, and squared distances [n, n] of the subsample by it, of mean 1."""

    term: Term
    squares: np.ndarray


@one_thread_for_products()
def screen(
    candidates: Mapping[str, list[str]],
    embedding: str,
    sample: Sample,
    screening: Sample,
    rng: np.random.Generator,
    *,
    supervised: bool = True,
    progress: bool | None,
) -> dict[str, Screened]:
    """Candidates by name, fitted to the sample; without those that tell no two graphs apart.

    Parameters
    ----------
    candidates : dict of list of str
        Sets of blocks by title, each tried with all embeddings that fit, or with `embedding` alone.
    sample, screening : Sample
        Graphs that candidates are fitted to, and the subsample of them that they are compared on.
    supervised : bool
        Whether graphs have targets.
    """
    found: dict[str, Screened] = {}
    kinds = {title: _embeddings(names, embedding, sample, supervised=supervised) for title, names in candidates.items()}
    fitted: list[Term] = []

    def each() -> Iterator[Term]:
        for title, names in candidates.items():
            for term in Term.fit_each(title, names, kinds[title], sample.blocks, sample.sizes[cloud_of(names)], rng):
                fitted.append(term)
                yield term

    with progress_bar(progress, "choosing", total=sum(map(len, kinds.values())), unit="candidate", delay=1.0) as bar:
        for place, squares in enumerate(in_parallel(Sample.squares, each(), screening, threads=True)):
            term, mean = fitted[place], float(squares.mean())
            if mean > _CONSTANT:
                name = term.name if term.name not in found else f"{term.name} ({term.kind})"
                found[name] = Screened(term, squares / np.float32(mean))
            bar.update()
    if not found:
        raise ValueError("all graphs look the same: no block of node features tells any two apart")
    return found


def _embeddings(names: list[str], wanted: str, sample: Sample, *, supervised: bool) -> list[str]:
    """Embeddings for these blocks; transport to a reference takes too long for large clouds of edges."""
    kinds = embeddings_for(names, wanted, supervised=supervised)
    cloud = cloud_of(names)
    if wanted == "auto" and cloud == "edges" and sample.sizes[cloud].mean() > _MANY_EDGES:
        kinds = [kind for kind in kinds if kind != "reference"]
    return kinds
