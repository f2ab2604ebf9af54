"""`python -m graph_metric_learn.cli` is `graph-metric-learn`."""

import sys

from .entry import main

if __name__ == "__main__":
    sys.exit(main())
