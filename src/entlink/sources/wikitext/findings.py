"""What the scanner comes across beside the text of a page."""

from __future__ import annotations


class Findings:
    """Collects, in the order of the page, what is no running text."""

    __slots__ = ("captions", "categories", "images", "languages", "literal", "open_picture", "switches", "templates")

    def __init__(self) -> None:
        self.categories: list[str] = []
        self.images: list[str] = []
        self.captions: list[tuple[str, str]] = []  # picture and caption, the latter still with its links
        self.languages: dict[str, str] = {}
        self.switches: set[str] = set()
        self.templates: set[str] = set()
        self.open_picture = (
            False  # whether a link to a picture was left as text: it holds other links, or is not closed
        )
        self.literal = False  # whether some characters are stand-ins for literal ones

    def picture(self, name: str, caption: str) -> None:
        self.images.append(name)
        if caption:
            self.captions.append((name, caption))
