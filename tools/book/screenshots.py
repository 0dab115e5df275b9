"""Takes the pictures of docs/results/site.md: pages of the built site as a headless Chromium shows them.

PYTHON -m book.screenshots, in tools/, after ./book
"""

import base64

from .chromium import Browser, Server, chromium_here
from .pages import ROOT

SEARCHED = "document.querySelector('#search-results .search-summary')?.innerText.includes('found')"
HEIGHTS = {1400: 900, 400: 820}
# Name of the picture, page, width, dark, and the words to search for, if any.
SHOTS = [
    ("home_1400", "index.html", 1400, False, None),
    ("home_400", "index.html", 400, True, None),
    ("reference_1400", "reference/cpp/solver.html", 1400, True, None),
    ("howto_400", "howto/interior_point.html", 400, False, None),
    ("search_1400", "search.html?q=inertia", 1400, False, "inertia"),
]


def main():
    program = chromium_here()
    if program is None:
        raise SystemExit("there is no Chromium (Debian: apt-get install --no-install-recommends chromium)")
    with Server(ROOT / "build/docs") as server, Browser(program) as browser:
        for name, page, width, dark, words in SHOTS:
            browser.set_width(width, HEIGHTS[width], dark)
            browser.open(server.address + page)
            if words:
                browser.wait_for(SEARCHED)
            told = browser.ask("Page.captureScreenshot", format="jpeg", quality=72)
            (ROOT / f"docs/results/site_{name}.jpg").write_bytes(base64.b64decode(told["data"]))


if __name__ == "__main__":
    main()
