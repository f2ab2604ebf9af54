"""What reproduces the tables and figures of "Simple Graph Metric Learning": other systems, experiments, results."""
