"""Hashes of 64-bit words."""

from __future__ import annotations

import numpy as np

from .compiled import njit

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: consecutive multiples are far apart


def mix(x: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit words that spreads every bit over all (the finaliser of SplitMix64).

    >>> int(mix(np.array([1], dtype=np.uint64))[0])
    6238072747940578789
    """
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


@njit(inline="always")
def mix_word(x):
    """The same of one word, a np.uint64, in compiled loops."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
