"""A model over HTTP: predictions, neighbours, explanations, and the explorer."""

from .app import make_app
from .requests import Limits
from .service import Service

__all__ = ["Limits", "Service", "make_app"]
