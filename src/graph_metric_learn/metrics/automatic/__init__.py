"""GraphMetric: candidates, their selection, learning."""

from .estimator import GraphMetric

__all__ = ["GraphMetric"]
