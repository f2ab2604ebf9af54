"""`python -m graph_metric_learn` is the command line."""

from .cli import console

if __name__ == "__main__":
    raise SystemExit(console())
