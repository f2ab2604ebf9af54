"""How long fuzzing goes on, where it starts, and the rule: an answer or a `ValueError`.

GRAPH_METRIC_LEARN_FUZZ_SECONDS (15 by default) and GRAPH_METRIC_LEARN_FUZZ_SEED say how long and where from.
"""

import os
import time
import warnings

import numpy as np

SECONDS = float(os.environ.get("GRAPH_METRIC_LEARN_FUZZ_SECONDS", "15"))
SEED = int(os.environ.get("GRAPH_METRIC_LEARN_FUZZ_SEED", "0"))


def run(case, seconds, *, at_least=20):
    """Cases until the time is over; all but answers and `ValueError` fail, with the seed that brings them back."""
    end, count, refused = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end or count < at_least:
        seed = [SEED, count]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                case(np.random.default_rng(seed))
            except ValueError:
                refused += 1
            except Exception as error:
                raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
        count += 1
    print(f"{case.__name__}: {count} cases, {refused} of them refused")
