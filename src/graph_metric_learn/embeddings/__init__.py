"""A cloud of points becomes a vector: one file per embedding, all of them in `EMBEDDINGS`."""

from .assignment import Assignment, NormalizedAssignment
from .axes import Axes
from .columns import ColumnEmbedding
from .density import Density
from .embedding import EMBEDDINGS, Embedding, Mean, restore
from .histogram import Counts, Histogram
from .reference import Reference

__all__ = [
    "EMBEDDINGS", "Assignment", "Axes", "ColumnEmbedding", "Counts", "Density", "Embedding", "Histogram", "Mean",
    "NormalizedAssignment", "Reference", "restore",
]  # fmt: skip

# In the order in which they are listed.
EMBEDDINGS.update({"mean": Mean, "reference": Reference, "density": Density, "axes": Axes, "histogram": Histogram})
EMBEDDINGS.update({"counts": Counts, "assignment": Assignment, "normalized-assignment": NormalizedAssignment})
