"""Benchmarks behind `graph-metric-learn bench`: ratios measured within one run, compared with targets."""
