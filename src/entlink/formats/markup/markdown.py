"""Reads Markdown (CommonMark and GitHub's tables, strikethrough and footnotes) as its rendering shows it."""

from __future__ import annotations

from entlink.formats.markup.aligned import BLOCK_BREAK, Aligned, Flow
from entlink.formats.markup.html import scan_html
from entlink.formats.markup.markdown_blocks import find_blocks
from entlink.formats.markup.markdown_inline import FoundLink, show_inline


def read_markdown(text: str, links: list[FoundLink] | None = None) -> Aligned:
    """What the rendering of `text` shows, with offsets into it. Code is left out; links are added to `links`."""
    flow = Flow(text)
    outline = find_blocks(text)
    for block in outline.blocks:
        start, end = block.lines[0][0], block.lines[-1][1]
        flow.gap(BLOCK_BREAK, start, start)
        if block.is_html:
            scan_html(text, start, end, flow)
        else:
            show_inline(text, block.lines, outline, flow, links)
        flow.gap(BLOCK_BREAK, end, end)
    return flow.finish()
