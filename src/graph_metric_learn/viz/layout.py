"""Maps: places in the plane for vectors of many coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

_STRETCH = 2.5  # how much more the shorter side of a map is enlarged than the longer one, at most


def map_layout(vectors: Any, seed: int = 0) -> np.ndarray:
    """Places in the plane [N, 2], within the unit square, that keep neighbours of vectors [N, d] together: t-SNE.

    It starts from the two main principal components of the vectors, and sees their first 50. The same vectors and seed
    give the same map.
    """
    from scipy import sparse
    from sklearn.decomposition import PCA, TruncatedSVD
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    count, width = vectors.shape
    few = min(50, count - 1, width - 1)
    if few >= 1:
        reduce = TruncatedSVD(few, random_state=seed) if sparse.issparse(vectors) else PCA(few, random_state=seed)
        with np.errstate(invalid="ignore"):  # it divides by the total variance, 0 where all graphs are equal
            vectors = reduce.fit_transform(vectors)
    elif sparse.issparse(vectors):
        vectors = vectors.toarray()
    start = np.zeros((count, 2))
    wide = min(2, vectors.shape[1])
    start[:, :wide] = vectors[:, :wide]
    start += 1e-3 * max(float(start.std()), 1e-12) * np.random.default_rng(seed).normal(size=start.shape)
    if count > 4:
        first = 1e-4 * start / max(float(start[:, 0].std()), 1e-12)  # the scale t-SNE expects of its starting points
        perplexity = min(30.0, (count - 1) / 4)
        tsne = TSNE(init=first.astype(np.float32), perplexity=perplexity, max_iter=500, random_state=seed)
        with threadpool_limits(1):  # its threads synchronise at every step: on a busy computer, 20 times slower
            start = tsne.fit_transform(np.ascontiguousarray(vectors, dtype=np.float32))
    low, high = start.min(0), start.max(0)
    extent = np.maximum(high - low, max(float((high - low).max()), 1e-12) / _STRETCH)
    return (start - (low + high) / 2) / extent + 0.5
