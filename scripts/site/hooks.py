"""Builds the site from docs/ and README.md as they are: the README becomes the first page, links that leave docs/ lead to GitHub."""
import re
from pathlib import Path, PurePosixPath

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def slug(text, separator):
    """GitHub's, so that the documents' anchors are the same in both places."""
    return re.sub(" ", separator, re.sub(r"[^\w\- ]", "", text.strip().lower()))


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files, config):
    files.append(File.generated(config, "index.md", content=(ROOT / "README.md").read_text()))
    return files


def normalized(path):
    parts = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)


def on_page_markdown(markdown, page, config, files):
    """Resolves each link as in the repository; a page of the site stays a link of the site."""
    here = PurePosixPath("README.md" if page.file.src_uri == "index.md" else f"docs/{page.file.src_uri}")

    def link(found):
        opening, target, closing = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found.group(0)
        path, hash_sign, anchor = target.partition("#")
        place = normalized(here.parent / path)
        if place == PurePosixPath("README.md"):
            name = "index.md"
        elif place.parts and place.parts[0] == "docs" and files.get_file_from_path(str(PurePosixPath(*place.parts[1:]))):
            name = str(PurePosixPath(*place.parts[1:]))
        else:
            kind = "tree" if (ROOT / place).is_dir() else "blob"
            return f"{opening}{config['repo_url'].rstrip('/')}/{kind}/main/{place}{hash_sign}{anchor}{closing}"
        depth = len(PurePosixPath(page.file.src_uri).parts) - 1
        return f"{opening}{'../' * depth}{name}{hash_sign}{anchor}{closing}"

    return LINK.sub(link, markdown)
