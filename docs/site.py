#!/usr/bin/env python3
"""Makes a site of the README, the pages in docs and the pages that they link to, and checks every link in it.

    docs/site.py           builds target/site, by mdbook (cargo install --locked mdbook)
    docs/site.py --serve   and shows it at http://localhost:3000

The pages stay as they are: they are copied with their folders, so that their links, which lead to files of the repository,
lead to the same files of the site. The order is that of the README's table.
"""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
BOOK = ROOT / "target/book"
SITE = ROOT / "target/site"
WIDE = ":root { --content-max-width: 1100px; }\n"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def fail(text):
    sys.exit(f"site.py: {text}")


def targets(page):
    """The files and folders of the repository that a page links to, in order."""
    for target in LINK.findall((ROOT / page).read_text()):
        path = target.split("#")[0]
        if path and "://" not in path:
            found = (ROOT / page).parent.joinpath(path).resolve()
            if not found.exists():
                fail(f"{page} links to {path}, which is not there")
            yield found.relative_to(ROOT)


def reachable():
    """The pages that can be reached from the README, in the order in which they are linked, and other files."""
    pages, files = [pathlib.Path("README.md")], []
    for page in pages:
        for found in targets(page):
            # A folder is shown by its README; one without has a list of its pages.
            if (ROOT / found).is_dir():
                inside = found / "README.md"
                new = [inside] if (ROOT / inside).exists() else sorted(each.relative_to(ROOT) for each in (ROOT / found).rglob("*.md"))
            else:
                new = [found]
            for each in new:
                known = pages if each.suffix == ".md" else files
                if each not in known:
                    known.append(each)
    return pages, files


def title(page):
    """The heading of a page."""
    heading = re.search(r"^# (.*)", (ROOT / page).read_text(), re.M)
    return heading[1].replace("[", "").replace("]", "") if heading else page.stem


def link_to_page(page, target):
    """A link of a page, which leads to the README where it leads to a folder."""
    is_folder = "://" not in target and (ROOT / page).parent.joinpath(target).is_dir()
    return f"]({target.rstrip('/')}/README.md)" if is_folder else f"]({target})"


def copy():
    """The book's sources. Gives the number of pages."""
    shutil.rmtree(BOOK, ignore_errors=True)
    pages, files = reachable()
    for file in pages + files:
        to = BOOK / "pages" / file
        to.parent.mkdir(parents=True, exist_ok=True)
        if file in pages:
            to.write_text(LINK.sub(lambda link: link_to_page(file, link[1]), (ROOT / file).read_text()))
        else:
            shutil.copyfile(ROOT / file, to)
    # The results of measurements are many, and stand below one entry, which lists them.
    results = pathlib.Path("benches/results")
    entry = "# Results of measurements\n\n" + "".join(
        f"* [{title(page)}]({page.relative_to(results)})\n" for page in pages if page.is_relative_to(results)
    )
    (BOOK / "pages" / results / "README.md").write_text(entry)
    lines = ["# Pages\n", "[histeq-video](README.md)\n"]
    lines += [f"* [{title(page)}]({page})" for page in pages[1:] if not page.is_relative_to(results)]
    lines += [f"* [Results of measurements]({results}/README.md)"]
    lines += [f"    * [{title(page)}]({page})" for page in pages if page.is_relative_to(results)]
    (BOOK / "pages/SUMMARY.md").write_text("\n".join(lines) + "\n")
    shutil.copyfile(ROOT / "docs/book.toml", BOOK / "book.toml")
    (BOOK / "wide.css").write_text(WIDE)
    return len(pages) + 1


class Page(html.parser.HTMLParser):
    """The links of a page, and the places in it that links can lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places |= {attributes[name] for name in ("id", "name") if name in attributes}
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]


def check():
    """Whether every link of the site leads somewhere. Gives their number."""
    pages = {path: Page(path) for path in SITE.rglob("*.html")}
    checked, wrong = 0, []
    for path, page in pages.items():
        # It is shown for any address that is not there, and has links as from the site's root.
        if path.name in ("404.html", "toc.html"):
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = path.parent.joinpath(urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            place = urllib.parse.unquote(parts.fragment)
            checked += 1
            if not to.is_file():
                wrong.append(f"{path.relative_to(SITE)}: {link} is not there")
            elif place and to in pages and place not in pages[to].places:
                wrong.append(f"{path.relative_to(SITE)}: {link} has no such place")
    if wrong:
        fail("links that lead nowhere:\n" + "\n".join(wrong))
    return checked


def main():
    if not shutil.which("mdbook"):
        fail("no mdbook here: cargo install --locked mdbook")
    number = copy()
    shutil.rmtree(SITE, ignore_errors=True)
    subprocess.run(["mdbook", "build", str(BOOK), "--dest-dir", str(SITE)], check=True)
    print(f"{SITE.relative_to(ROOT)}: {number} pages, {check()} links")
    if "--serve" in sys.argv:
        subprocess.run(["mdbook", "serve", str(BOOK), "--dest-dir", str(SITE)], check=True)


main()
