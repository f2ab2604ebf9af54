"""GraphMetric: families of kernels, their weights, a regression on all graphs, compact coordinates."""

from .estimator import GraphMetric

__all__ = ["GraphMetric"]
