"""A headless Chromium for tests of pages: what it logs, what it fetches, and pages opened from disk."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium():
    """The program, or a skip that says what is missing."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs a browser: install Debian's package chromium, or set CHROMIUM to the program")
    pytest.importorskip("playwright.sync_api", reason="needs playwright, which drives the browser: pip install .[dev]")
    return program


class Opened:
    """A page, what it said on the console, and what it asked the network for."""

    def __init__(self, page):
        self.page, self.said, self.asked = page, [], []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, address):
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready=yes]")
        return self.page


@contextmanager
def browser(folder: Path, *, dark=False, width=1280, height=820, touch=False):
    """A browser with a profile of its own in a folder."""
    from playwright.sync_api import sync_playwright

    program = chromium()
    with sync_playwright() as play:
        context = play.chromium.launch_persistent_context(
            str(folder),
            executable_path=program,
            headless=True,
            args=FLAGS,
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
        )
        try:
            yield Opened(context.new_page())
        finally:
            context.close()
