"""Where graphs come from: one file per kind of source, each reads one graph as it came."""
