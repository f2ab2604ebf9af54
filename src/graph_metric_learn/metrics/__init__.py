"""Distances between graphs: what all of them can do, SGML, and GraphMetric."""

from .base import METRICS, BaseGraphMetric

__all__ = ["METRICS", "BaseGraphMetric"]
