"""One self-contained HTML page: figures inside the file, no script, nothing fetched, light or dark as the screen is.

Pieces are strings of HTML. Those that take text escape it; `page` and `section` take pieces.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from .plots import as_png

_SIDE = 240  # of a map, in its own units


def page(title: str, lead: str, sections: Iterable[str], *, banner: str = "", footer: str = "") -> str:
    """The whole document.

    Parameters
    ----------
    title, lead, footer : str
        Plain text.
    sections : iterable of str
        From :func:`section`.
    banner : str
        A piece below the lead.

    Examples
    --------
    >>> document = page("Rings & stars", "Two kinds of graphs.", [section("result", "Result", paragraph("fine"))])
    >>> "<h1>Rings &amp; stars</h1>" in document
    True
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<header>\n<h1>{escape(title)}</h1>\n<p class="lead">{escape(lead)}</p>\n{banner}\n</header>\n'
        + "\n".join(sections)
        + (f"\n<footer><p>{escape(footer)}</p></footer>" if footer else "")
        + "\n</main>\n</body>\n</html>\n"
    )


def section(name: str, heading: str, *pieces: str) -> str:
    """A part of the page; links reach it as #name."""
    return f'<section id="{escape(name)}">\n<h2>{escape(heading)}</h2>\n' + "\n".join(pieces) + "\n</section>"


def paragraph(text: str, kind: str = "") -> str:
    """Plain text; kind is a class of the style sheet, such as "note"."""
    return f"<p{_class(kind)}>{escape(text)}</p>"


def code(text: str) -> str:
    """A block of source code."""
    return f"<pre><code>{escape(text)}</code></pre>"


def side_by_side(*pieces: str) -> str:
    """Pieces next to each other where the screen is wide enough, else below each other."""
    return '<div class="columns">\n' + "\n".join(pieces) + "\n</div>"


def figure(content: str, caption: str = "", kind: str = "") -> str:
    """A picture with its caption (plain text)."""
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure{_class(kind)}>{content}{below}</figure>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of plain text, the first row its head, the first column its names.

    >>> table([["", "MUTAG"], ["k-NN", "86.3"]])
    '<div class="wide"><table><tr><th></th><th>MUTAG</th></tr><tr><td>k-NN</td><td>86.3</td></tr></table></div>'
    """
    lines = [
        "<tr>" + "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in row) + "</tr>"
        for row, kind in zip(rows, ["th", *["td"] * (len(rows) - 1)], strict=True)
    ]
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def share_bar(label: str, share: float, kind: str = "") -> str:
    """A share between 0 and 1, as a number and as a bar."""
    return (
        f'<div class="share {escape(kind)}"><span class="name">{escape(label)}</span>'
        f'<span class="number">{100 * share:.1f} %</span>'
        f'<span class="track"><span class="fill" style="width:{100 * share:.1f}%"></span></span></div>'
    )


def facts(numbers: Sequence[tuple[str, str]]) -> str:
    """Short numbers, each with what it counts."""
    items = "".join(f"<div><dd>{escape(value)}</dd><dt>{escape(name)}</dt></div>" for value, name in numbers)
    return f'<dl class="facts">{items}</dl>'


def png(plot: Any, alt: str, *, paper: bool = False) -> str:
    """A `matplotlib.figure.Figure` as an image within the page.

    On a dark screen its ink turns light; with `paper` it stays as it is, on white, for colours that mean something.
    """
    return image(as_png(plot, dpi=130, transparent=True), alt, paper=paper)


def image(data: bytes, alt: str, *, paper: bool = False) -> str:
    """A PNG within the page; see :func:`png`."""
    inside = base64.b64encode(data).decode()
    return f'<img class="plot{" paper" if paper else ""}" alt="{escape(alt)}" src="data:image/png;base64,{inside}">'


def bars_png(names: Sequence[str], shares: Sequence[float], marked: Sequence[bool], alt: str) -> str:
    """Bars of shares between 0 and 1, the first one on top; some are marked."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    plot = Figure(figsize=(7, 0.6 + 0.28 * len(names)), layout="constrained")
    axes = plot.add_subplot()
    places = range(len(names), 0, -1)
    axes.barh(places, shares, color=["#0f766e" if mark else "#b8c4c2" for mark in marked], height=0.7)
    axes.set_yticks(list(places), names)
    axes.set(xlim=(0, 1))
    axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", alpha=0.25)
    return png(plot, alt)


def graph_svg(positions: np.ndarray, edges: np.ndarray, weights: np.ndarray, alt: str) -> str:
    """A graph, drawn.

    Parameters
    ----------
    positions : ndarray [n, 2]
        In the square from −1 to 1, y upwards.
    edges : ndarray [2, E]
        Pairs of nodes; of two directions, one is drawn.
    weights : ndarray [n]
        From 0, a small node, to 1, a large one.
    alt : str
        What a reader who does not see it is told.

    Examples
    --------
    >>> drawing = graph_svg(np.array([[-1, 0], [1, 0]]), np.array([[0, 1], [1, 0]]), np.ones(2), "an edge")
    >>> drawing.count("<circle"), drawing.count("M")
    (2, 1)
    """
    places = np.rint(np.stack([40 + 34 * positions[:, 0], 40 - 34 * positions[:, 1]], axis=1)).astype(int)
    lines = "".join(
        f"M{places[a, 0]} {places[a, 1]}L{places[b, 0]} {places[b, 1]}" for a, b in np.transpose(edges) if a < b
    )
    nodes = "".join(
        f'<circle cx="{x}" cy="{y}" r="{1.2 + 2.2 * weight:.1f}"/>'
        for (x, y), weight in zip(places, weights, strict=True)
    )
    return (
        f'<svg class="graph" viewBox="0 0 80 80" role="img" aria-label="{escape(alt)}"><path d="{lines}"/>{nodes}</svg>'
    )


def map_svg(points: np.ndarray, labels: np.ndarray, alt: str) -> str:
    """Points in the plane, each drawn as its label, in one colour per label.

    Parameters
    ----------
    points : ndarray [N, 2]
    labels : ndarray [N]
        Short: digits, letters.
    alt : str
        What a reader who does not see it is told.
    """
    low, high = points.min(0), points.max(0)
    spread = max(float((high - low).max()), 1e-12)
    places = (points - (low + high) / 2) / spread * (_SIDE - 20) + _SIDE / 2
    _, codes = np.unique(labels, return_inverse=True)
    texts = "".join(
        f'<text x="{x:.1f}" y="{y:.1f}" class="c{k % 10}">{escape(str(label))}</text>'
        for (x, y), k, label in zip(places, codes, labels, strict=True)
    )
    return f'<svg class="map" viewBox="0 0 {_SIDE} {_SIDE}" role="img" aria-label="{escape(alt)}">{texts}</svg>'


def flatten(distances: np.ndarray, seed: int = 0) -> np.ndarray:
    """Places in the plane [N, 2] by t-SNE of distances [N, N].

    It starts from classical scaling, not from random places: the same distances give the same map.
    """
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    squares = distances.astype(float) ** 2
    centred = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    start *= 1e-4 / max(float(start.std()), 1e-12)  # small, as t-SNE wants it
    perplexity = min(20.0, len(distances) / 4)
    tsne = TSNE(metric="precomputed", init=start, perplexity=perplexity, max_iter=500, random_state=seed)
    with threadpool_limits(1):  # its threads wait for each other at every step: on a busy computer, 20 times slower
        return tsne.fit_transform(distances)


def drawings_row(drawings: Iterable[str]) -> str:
    """Small drawings next to each other."""
    return '<div class="row">' + "".join(drawings) + "</div>"


def match_strip(heading: str, drawings: Iterable[tuple[str, str, bool]]) -> str:
    """Drawings in a row, each with a short name and whether it is the right one; wrong ones are marked."""
    mark = ' <b role="img" aria-label="wrong">✗</b>'
    items = "".join(
        f'<li class="{"right" if right else "wrong"}">{drawing}<span>{escape(name)}{"" if right else mark}</span></li>'
        for drawing, name, right in drawings
    )
    return f'<div class="strip"><h3>{escape(heading)}</h3><ol>{items}</ol></div>'


def query_row(query: str, *strips: str) -> str:
    """A drawing, and strips of what was found for it."""
    return f'<div class="query">{query}{"".join(strips)}</div>'


def _class(kind: str) -> str:
    return f' class="{escape(kind)}"' if kind else ""


# Ten colours, in the order of the classes: dark enough for light paper, light enough for dark paper.
_INKS = (
    ("#2563eb", "#7aa7ff"), ("#c2410c", "#ff9d66"), ("#15803d", "#5fd38a"), ("#be123c", "#ff7d99"),
    ("#7c3aed", "#b79bff"), ("#854d0e", "#dcae5c"), ("#be189c", "#ff8ce6"), ("#475569", "#a9b8cc"),
    ("#5f7a05", "#bcd651"), ("#0e7490", "#57cbe0"),
)  # fmt: skip
_LIGHT = "".join(f".c{k}{{fill:{light}}}" for k, (light, _) in enumerate(_INKS))
_DARK = "".join(f".c{k}{{fill:{dark}}}" for k, (_, dark) in enumerate(_INKS))
_STYLE = (
    """
:root{color-scheme:light dark;--paper:#f6f5f1;--card:#fff;--ink:#1d2430;--soft:#5c6675;--line:#dfddd5;--edge:#b4bdc9;
--good:#0f766e;--bad:#c2263d}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:17px/1.6 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:960px;margin:0 auto;padding:clamp(1.5rem,5vw,4rem) clamp(1rem,4vw,2rem)}
h1{font-size:clamp(1.9rem,5vw,2.9rem);line-height:1.15;letter-spacing:-.02em;margin:0 0 .6rem;text-wrap:balance}
h2{font-size:1.35rem;letter-spacing:-.01em;margin:0 0 .6rem}
h3{font-size:.85rem;font-weight:600;color:var(--soft);margin:0 0 .35rem}
p{margin:0 0 .9rem;max-width:68ch}
section>:last-child{margin-bottom:0}
.lead{font-size:1.15rem;color:var(--soft)}
.note,figcaption,footer{color:var(--soft);font-size:.9rem;max-width:76ch}
section{background:var(--card);border:1px solid var(--line);border-radius:16px;padding:clamp(1.1rem,3.5vw,2rem);
margin:1.4rem 0}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,300px),1fr));gap:1.5rem}
figure{margin:0}
figcaption{margin-top:.5rem}
svg,img{display:block;width:100%;height:auto}
img.plot{max-width:760px;margin:0 auto}
img.paper{background:#fff;border-radius:12px}
.map{border:1px solid var(--line);border-radius:12px}
.map text{font:600 7.5px system-ui,sans-serif;text-anchor:middle;dominant-baseline:central}
.graph path{stroke:var(--edge);stroke-width:1;fill:none}
.graph circle{fill:var(--ink)}
.row{display:grid;grid-template-columns:repeat(auto-fit,minmax(64px,1fr));gap:.6rem;margin:1.4rem 0 0}
@media (max-width:760px){.row{grid-template-columns:repeat(5,1fr)}}
.share{display:grid;grid-template-columns:1fr auto;align-items:baseline;gap:0 1rem;margin:0 0 1rem}
.share .number{font-size:clamp(1.6rem,5vw,2.3rem);font-weight:650;letter-spacing:-.02em;
font-variant-numeric:tabular-nums}
.share .track{grid-column:1/-1;height:10px;border-radius:5px;background:var(--line);overflow:hidden}
.share .fill{display:block;height:100%;border-radius:5px;background:var(--soft)}
.share.good .number{color:var(--good)}
.share.good .fill{background:var(--good)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:1rem;margin:1.4rem 0}
.facts div{border-top:1px solid var(--line);padding-top:.5rem}
.facts dd{margin:0;font-size:1.25rem;font-weight:600}
.facts dt{color:var(--soft);font-size:.85rem;line-height:1.35}
.query{display:grid;grid-template-columns:130px 1fr 1fr;gap:.6rem 1.6rem;
border-top:1px solid var(--line);padding:1.1rem 0 .8rem}
.query>figure svg{max-width:130px}
.strip ol{display:grid;grid-template-columns:repeat(5,1fr);gap:.35rem;margin:0;padding:0;list-style:none}
.strip li{border:1.5px solid var(--line);border-radius:8px;padding:.1rem .1rem .2rem;text-align:center;font-size:.8rem;
line-height:1.3}
.strip .wrong{border-color:var(--bad);background:color-mix(in srgb,var(--bad) 9%,transparent)}
.strip .wrong circle{fill:var(--bad)}
.strip b{color:var(--bad)}
pre{overflow-x:auto;background:var(--paper);border:1px solid var(--line);border-radius:10px;padding:1rem;
font:.85rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;margin:0 0 .9rem}
footer{padding:0 .2rem}
.wide{overflow-x:auto;margin:0 0 .9rem}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
td,th{padding:.25rem .6rem;border-bottom:1px solid var(--line);white-space:nowrap}
td+td,th+th{text-align:right}
@media (max-width:760px){.query{grid-template-columns:1fr}.query>figure{display:flex;align-items:center;gap:1rem}
.query>figure svg{max-width:96px}}
"""
    + _LIGHT
    + """
@media (prefers-color-scheme:dark){:root{--paper:#11151b;--card:#191f28;--ink:#e7eaef;--soft:#9aa6b6;--line:#2b333f;
--edge:#4d5968;--good:#4cc9b8;--bad:#ff7285}img.plot:not(.paper){filter:invert(1) hue-rotate(180deg)}"""
    + _DARK
    + "}\n"
)
