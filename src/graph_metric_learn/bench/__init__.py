"""Benchmarks behind `graph-metric-learn bench`: ratios inside one run, with the targets they are held to."""
