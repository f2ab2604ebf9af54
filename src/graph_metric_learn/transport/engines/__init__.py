"""All pairs of many embedded measures: one protocol, several engines."""
