import numpy as np

from graph_metric_learn._core.compiled import njit
from graph_metric_learn._core.hashing import ODD, mix, mix_word


def one_by_one(x):
    """The finaliser of SplitMix64, in Python's own whole numbers."""
    mask = 2**64 - 1
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
    return x ^ (x >> 31)


def test_the_finaliser_of_splitmix64():
    words = np.random.default_rng(0).integers(0, 2**64, 200, dtype=np.uint64)
    words[:4] = [0, 1, 2**63, 2**64 - 1]
    assert mix(words).tolist() == [one_by_one(word) for word in words.tolist()]
    assert mix(words).dtype == np.uint64
    # the first outputs of the generator with seed 0, as published with it
    seeds = np.arange(1, 4, dtype=np.uint64) * ODD
    assert mix(seeds).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@njit
def mixed_one_by_one(words, out):
    for i in range(len(words)):
        out[i] = mix_word(words[i])


def test_compiled_loops_have_the_same_hash():
    words = np.random.default_rng(0).integers(0, 2**64, 200, dtype=np.uint64)
    out = np.empty_like(words)
    mixed_one_by_one(words, out)
    np.testing.assert_array_equal(out, mix(words))


def test_no_two_words_have_the_same_hash_and_every_bit_depends_on_all():
    words = np.arange(100_000, dtype=np.uint64)
    assert len(np.unique(mix(words))) == len(words)
    for bit in range(64):
        flipped = mix(words[:2000]) ^ mix(words[:2000] ^ np.uint64(1 << bit))
        share = np.unpackbits(flipped.view(np.uint8).reshape(2000, 8), axis=1).mean(0)
        assert np.abs(share - 0.5).max() < 0.06


def test_consecutive_multiples_are_far_apart():
    """The smallest gap among the first n is at least a third of what even spacing would give."""
    for n in (10, 1000, 100_000):
        places = np.sort(np.arange(1, n + 1, dtype=np.uint64) * ODD)
        assert np.diff(places).min() > 2**64 / n / 3
