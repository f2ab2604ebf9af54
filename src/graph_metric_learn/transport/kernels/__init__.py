"""Compiled loops: numba for CPU arrays without gradients, Triton for CUDA devices.

Kernels take flat arrays, since numba does not compile our classes. Shapes, unless said otherwise: values [S, M, c]
(steps of all curves, directions, coordinates), ends [S, M] (when each step ends), starts and sizes [G] (first row and
number of rows of each curve). The second side of a pair has the same names with a 2.

numba's cache on disk notices changes of a function's own file only. After a change of `sorting` or `walks`, remove
the cached files (``__pycache__/*.nb?``) of the modules that call them: `walks`, `matrices`, the compiled
training; after a change of `kernels.simplex`, those of `embeddings.reference` and `baselines.fgw`.
"""
