"""Exact optimal transport of small problems."""
