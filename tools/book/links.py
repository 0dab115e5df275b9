"""Checks the links of the built site.

    python3 tools/book/links.py build/docs [--external]

Every address and anchor inside the site must exist, and no page may load anything from elsewhere, so that the
site also works where there is no network. Links to other sites are only tried with --external.
"""

import argparse
import html
import pathlib
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

ADDRESS = re.compile(r"<(\w+)\b[^>]*?\s(href|src)=\"([^\"]*)\"([^>]*)>")
ANCHOR = re.compile(r"\s(?:id|name)=\"([^\"]+)\"")
LOADED = {"link", "script", "img", "iframe", "source"}


class Site:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.texts = {path: path.read_text() for path in sorted(self.folder.rglob("*.html"))}
        self.anchors = {
            path: {html.unescape(name) for name in ANCHOR.findall(text)} for path, text in self.texts.items()
        }

    def addresses(self):
        """(page, tag, address) of every link and of everything that pages load."""
        for page, text in self.texts.items():
            for tag, _, address, _ in ADDRESS.findall(re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)):
                yield page, tag, html.unescape(address)

    def complaints(self):
        """One line for each link that leads nowhere and for each thing loaded from elsewhere."""
        found = set()
        for page, tag, address in self.addresses():
            name = page.relative_to(self.folder).as_posix()
            if re.match(r"(https?:)?//", address):
                if tag in LOADED:
                    found.add(f"{name} loads {address} from another site")
            elif not re.match(r"(mailto|data|javascript):", address) and (
                problem := self.problem(page, address)
            ):
                found.add(f"{name} links to {address}: {problem}")
        return sorted(found)

    def problem(self, page, address):
        path, fragment = urllib.parse.urldefrag(address)
        target = (page.parent / urllib.parse.unquote(path.partition("?")[0])).resolve() if path else page
        if target.is_dir():
            target = target / "index.html"
        if not target.exists():
            return "no such file"
        if fragment and target in self.anchors and urllib.parse.unquote(fragment) not in self.anchors[target]:
            return "no such anchor"
        return None

    def external(self):
        return sorted(
            {address for _, tag, address in self.addresses() if tag == "a" and address.startswith("http")}
        )


def answer_of(address):
    """None if another site has the page, else its answer. Some sites refuse programs (403): no dead link."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0"})
    try:
        urllib.request.urlopen(request, timeout=20).close()
    except urllib.error.HTTPError as error:
        return None if error.code in (403, 418, 429) else f"HTTP {error.code}"
    except OSError as error:
        return str(error)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--external", action="store_true", help="try links to other sites too")
    arguments = parser.parse_args()
    site = Site(arguments.folder)
    complaints = site.complaints()
    if arguments.external:
        answers = {address: answer_of(address) for address in site.external()}
        complaints += [f"{address}: {answer}" for address, answer in answers.items() if answer]
    print("\n".join(complaints + [f"{len(site.texts)} pages, {len(complaints)} broken links"]))
    sys.exit(bool(complaints) or not site.texts)


if __name__ == "__main__":
    main()
