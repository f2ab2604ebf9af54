"""Compiled loops for the CPU, and Triton's for GPUs."""
