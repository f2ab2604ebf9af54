"""What every room uses: ragged arrays, compiled loops, principal axes, checks, registries, progress, files."""
