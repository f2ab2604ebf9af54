"""Training an encoder so that the distance between graphs fits their classes.

`loop` trains one encoder, over random `batches`: by the step in `compiled` (SGCN, CPU), or by autograd through
`batch_distances`. `many_models` trains many SGCNs at once on a GPU, through `padded_distances`.
"""

from .loop import History, train

__all__ = ["History", "train"]
