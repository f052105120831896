"""The documentation as a small site: what is generated is made anew, then every page becomes HTML.

python docs/make.py [OUT]        default: build/docs
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from markdown_it import MarkdownIt

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
_LINK = re.compile(r'(href|src)="([^":#]+)(#[^"]*)?"')
_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24 }
pre { background: #f4f5f7; padding: .8rem; overflow-x: auto; border-radius: 4px } code { font-size: .92em }
table { border-collapse: collapse; display: block; overflow-x: auto }
td, th { border: 1px solid #d5d9de; padding: .3rem .6rem }
img { max-width: 100% } a { color: #0b57a4 }
@media (prefers-color-scheme: dark) { body { background: #14171a; color: #dfe3e8 } pre { background: #20242a }
a { color: #7db7f0 } td, th { border-color: #3a4048 } }
"""


def pages() -> list[Path]:
    """The Markdown files of the documentation, and those beside the README it links to."""
    return sorted(HERE.rglob("*.md")) + [ROOT / name for name in ("README.md", "CONVENTIONS.md", "CHANGELOG.md")]


def render(page: Path, markdown: MarkdownIt) -> str:
    """One page as HTML, its links to other pages pointing to theirs."""
    body = markdown.render(page.read_text(encoding="utf8"))
    body = _LINK.sub(lambda match: _linked(match, page), body)
    title = page.read_text(encoding="utf8").splitlines()[0].lstrip("# ")
    return (
        f'<!doctype html><meta charset="utf8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style><body>{body}</body>\n"
    )


def _linked(match: re.Match[str], page: Path) -> str:
    attribute, target, anchor = match.group(1), match.group(2), match.group(3) or ""
    if not (page.parent / target).exists():
        raise SystemExit(f"{page}: links to {target}, which is not there")
    return f'{attribute}="{re.sub(r"[.]md$", ".html", target)}{anchor}"'


def main() -> None:
    """Write the site."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs")
    shutil.rmtree(out, ignore_errors=True)
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    for page in pages():
        target = out / page.relative_to(ROOT).with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(render(page, markdown), encoding="utf8")
    for picture in HERE.glob("*.svg"):
        shutil.copy(picture, out / "docs" / picture.name)
    sys.stdout.write(f"{len(pages())} pages in {out}; start at {out / 'docs' / 'index.html'}\n")


if __name__ == "__main__":
    main()
