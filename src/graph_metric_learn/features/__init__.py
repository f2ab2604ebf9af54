"""Descriptions of nodes by name: attributes, labels, degrees, local structure, trees."""

from .node_features import NodeFeatures

__all__ = ["NodeFeatures"]
