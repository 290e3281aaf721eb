"""Checks a built site: every document is a page that the first page leads to and the search knows, and no link or anchor is dead."""
import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parent.parent.parent


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("id"):
            self.ids.add(attributes["id"])
        target = attributes.get("href") or attributes.get("src")
        if target and not target.startswith(("http://", "https://", "mailto:", "data:")):
            self.links.append(unquote(target))


def faults(site):
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    reached, queue = set(), [site / "index.html"]
    while queue:
        here = queue.pop()
        if here in reached or here not in pages:
            continue
        reached.add(here)
        for link in pages[here].links:
            file, anchor = urldefrag(link)
            target = (here.parent / file).resolve() if file else here
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{here.relative_to(site)} links to {link}, and there is no such file"
            elif anchor and target in pages and anchor not in pages[target].ids:
                yield f"{here.relative_to(site)} links to {link}, and there is no such anchor"
            queue.append(target)
    index = json.loads((site / "search/search_index.json").read_text())
    found = {urldefrag(entry["location"])[0] or "index.html" for entry in index["docs"]}
    for document in (ROOT / "docs").rglob("*.md"):
        page = document.relative_to(ROOT / "docs").with_suffix(".html")
        if site / page not in reached:
            yield f"{page} cannot be reached from the first page"
        if str(page) not in found:
            yield f"the search does not know {page}"


def main():
    site = Path(sys.argv[1]).resolve()
    found = sorted(set(faults(site)))
    for fault in found:
        print(fault, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
