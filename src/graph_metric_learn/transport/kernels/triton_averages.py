"""Means of curves on the cells of a regular grid on CUDA devices, compiled by Triton, see `grids`.

Triton comes with torch's CUDA builds.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

try:
    import triton  # type: ignore[import-not-found]
    import triton.language as tl  # type: ignore[import-not-found]
except ImportError:  # then nothing below is called, see `grids.has_kernels`
    triton = tl = None

_jit: Any = (lambda kernel: kernel) if triton is None else triton.jit
_CELLS = 128  # handled by one program
_WARPS = 4
_WIDEST = 32  # numbers of a step handled by one program
_SHORT = 2**15  # sizes below this have products that fit into 32 bits


@_jit
def _cell_averages(  # type: ignore[no-untyped-def]
    values, starts, sizes, out, count, n, stride,
    width: tl.constexpr, columns: tl.constexpr, cells: tl.constexpr, whole: tl.constexpr, exact: tl.constexpr,
):  # fmt: skip
    """Cell i of curve g has the number g n + i; a program handles consecutive cells, of one curve or several."""
    cell = tl.program_id(0).to(whole) * cells + tl.arange(0, cells)
    d = tl.program_id(1) * columns + tl.arange(0, columns)
    there = cell < count * n
    g = cell // n
    i = cell - g * n
    m = tl.load(sizes + g, mask=there, other=1).to(whole)
    start = tl.load(starts + g, mask=there, other=0)
    total = tl.zeros((cells, columns), exact)
    first = i * m // n
    for l in range(0, (tl.max(m) - 1) // n + 2):  # the steps that overlap a cell; times in units of 1 / (n m), exact
        j = first + l
        shared = tl.minimum((i + 1) * m, (j + 1) * n) - tl.maximum(i * m, j * n)
        share = tl.maximum(shared, 0).to(exact) / m.to(exact)
        inside = ((j < m) & there)[:, None] & (d < width)[None, :]
        step = tl.load(values + (start + j)[:, None] * width + d[None, :], mask=inside, other=0.0)
        total += share[:, None] * step.to(exact)
    place = out + (g.to(tl.int64) * stride + i * width)[:, None] + d[None, :]
    tl.store(place, total.to(out.dtype.element_ty), mask=there[:, None] & (d < width)[None, :])


def cell_averages(values: Tensor, starts: Tensor, sizes: Tensor, most: int, n: int, out: Tensor) -> None:
    """Means of curves of equal steps on n equal cells, into the first n · D columns of out [G, …].

    values [S, D]; starts, sizes [G]: the first row and the number of rows of each curve; most: the largest size. Where
    a cell takes many steps they are added up in double precision.
    """
    width = values.shape[1]
    columns = min(_WIDEST, triton.next_power_of_2(width))
    exact = tl.float64 if values.dtype == torch.float64 or most >= 64 * n else tl.float32
    whole = tl.int32 if max(n, most) < _SHORT and len(sizes) * n < 2**31 - _CELLS else tl.int64
    grid = (triton.cdiv(len(sizes) * n, _CELLS), triton.cdiv(width, columns))
    with torch.cuda.device(values.device):
        _cell_averages[grid](
            values, starts, sizes, out, len(sizes), n, out.stride(0), width, columns, _CELLS, whole, exact,
            num_warps=_WARPS,
        )  # fmt: skip
