"""SGML, the paper's model: encoders, losses, training."""

from .estimator import SGML

__all__ = ["SGML"]
