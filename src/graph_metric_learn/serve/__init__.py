"""A model over HTTP: predictions, neighbours, explanations, and the explorer."""
