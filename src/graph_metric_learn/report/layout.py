"""Places in the plane for things of which only distances are known."""

from __future__ import annotations

import numpy as np


def tsne_layout(distances: np.ndarray, seed: int = 0) -> np.ndarray:
    """Places in the plane [N, 2] by t-SNE of distances [N, N].

    t-SNE starts from classical multidimensional scaling, not from random places: the same distances give the same map.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    squares = distances.astype(float) ** 2
    centred = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    start *= 1e-4 / max(float(start.std()), 1e-12)  # the scale t-SNE expects of its starting points
    perplexity = min(20.0, len(distances) / 4)
    tsne = TSNE(metric="precomputed", init=start, perplexity=perplexity, max_iter=500, random_state=seed)
    with threadpool_limits(1):  # its threads synchronise at every step: on a busy computer, 20 times slower
        return tsne.fit_transform(distances)
