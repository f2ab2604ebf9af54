"""What every room uses and none owns: ragged arrays, compiled loops, principal axes, checks, registries, progress, files."""
