"""Training an encoder so that the distance between graphs fits their classes.

One computation, in three implementations: `loop` trains one encoder by autograd through `batch_distances`, the
reference; by `compiled_step` where that is an SGCN on the CPU; `many_models` trains many SGCNs at once on a GPU,
through `padded_distances`.
"""

from .loop import History, TrainingOptions, train

__all__ = ["History", "TrainingOptions", "train"]
