"""What a distance is for: classes."""
