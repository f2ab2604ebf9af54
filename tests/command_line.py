"""Commands as the tests run them."""

from graph_metric_learn.cli import main


def fit_quickly(source, out, *options):
    """`fit` without the estimate, which takes most of its time."""
    return main(["fit", str(source), "--out", str(out), "--no-estimate", *options])
