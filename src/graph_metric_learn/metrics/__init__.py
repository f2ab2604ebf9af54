"""Distances between graphs: what all of them can do, SGML, and GraphMetric."""
