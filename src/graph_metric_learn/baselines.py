"""The systems that the paper's tables compare with: they come with the distribution graph-metric-learn-reproduction."""

try:
    import graph_metric_learn_reproduction as _  # noqa: F401
except ImportError:
    raise ImportError(
        "baselines come with another distribution: pip install graph-metric-learn-reproduction "
        "(in a checkout: pip install ./reproduction)"
    ) from None

from graph_metric_learn_reproduction.baselines import *  # noqa: F403
from graph_metric_learn_reproduction.baselines import __all__ as __all__
