"""Writes the pictures of the explorer for the documentation: `make pictures`, after `make demo`."""

import sys
import tempfile
from pathlib import Path

from browser import browser

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "images"


def compare(page):
    page.click("#near button >> nth=0")


# Name of the picture: page of the demo, what is chosen first, options of the browser, what to do.
SHOTS = {
    "explorer-digits": ("digits.html", None, {}, None),
    "explorer-molecules": ("molecules.html", "caffeine", {}, compare),
    "explorer-dark": ("molecules.html", "aspirin", {"dark": True}, None),
    "explorer-phone": ("molecules.html", "caffeine", {"width": 390, "height": 844, "touch": True}, compare),
}


def main(folder: Path) -> None:
    for name, (page_name, wanted, options, act) in SHOTS.items():
        if not (folder / page_name).exists():
            continue
        with tempfile.TemporaryDirectory() as profile, browser(Path(profile), **options) as opened:
            page = opened.open((folder / page_name).resolve().as_uri())
            if wanted:
                page.fill("#search", wanted)
                page.press("#search", "Enter")
            if act:
                act(page)
            page.wait_for_timeout(300)
            page.screenshot(path=str(PICTURES / f"{name}.png"))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-report"))
