"""GraphMetric: candidates, their selection, learning."""
