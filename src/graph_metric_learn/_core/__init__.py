"""What every room uses and none owns: ragged arrays, compiled loops, checks, registries, progress, files."""
