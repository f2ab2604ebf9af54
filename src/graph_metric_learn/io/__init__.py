"""Models and matrices on disk, checked when read."""
