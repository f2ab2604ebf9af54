"""Code blocks, commands and headings of Markdown pages, for the tests that keep them true."""

import re
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))


def blocks(page, language):
    """The code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def run_python(page):
    """The names that the Python blocks of a page define, run one after the other; old names are an error."""
    names = {"__name__": page.stem}
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        for number, block in enumerate(blocks(page, "python"), start=1):
            exec(compile(block, f"{page.name}, Python block {number}", "exec"), names)
    return names


def shell_lines(page):
    """The lines of the shell blocks of a page, as (command, comment)."""
    lines = [line for block in blocks(page, "bash") for line in block.splitlines() if line.strip()]
    return [(command.strip(), comment.strip()) for command, _, comment in (line.partition("#") for line in lines)]


def inline_commands(page):
    """The calls of graph-metric-learn in the text of a page."""
    return re.findall(r"`(graph-metric-learn\s[^`]*)`", page.read_text())


def inline_code(page):
    """What stands between backquotes in the text of a page."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE))


def anchors(page):
    """The names that GitHub gives to the headings of a page, and of the file that it includes."""
    text = page.read_text()
    included = re.search(r"^```{include} (.*)$", text, flags=re.MULTILINE)
    if included:
        return anchors(page.parent / included[1])
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


def links(page):
    """Targets and anchors of the links and pictures of a page: ("docs/edges.md", "graphs"), ("", "ties")."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "`code`", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    targets = re.findall(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)]*))?\)", text)
    return [(target, anchor) for target, anchor in targets if not target.startswith("http")]
