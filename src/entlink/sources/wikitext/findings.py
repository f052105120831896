"""What the scanner comes across beside the text of a page."""

from __future__ import annotations


class Findings:
    """Collects, in the order of the page, what is no running text."""

    __slots__ = (
        "captions",
        "categories",
        "images",
        "languages",
        "literal",
        "switches",
        "templates",
        "unread_picture",
    )

    def __init__(self) -> None:
        self.categories: list[str] = []
        self.images: list[str] = []
        self.captions: list[tuple[str, str]] = []  # picture and caption, the latter still with its links
        self.languages: dict[str, str] = {}
        self.switches: set[str] = set()
        self.templates: set[str] = set()
        self.unread_picture = False  # whether a picture was taken for text: it holds links, or its name is illegal
        self.literal = False  # whether some characters are stand-ins for literal ones

    def picture(self, name: str, caption: str) -> None:
        self.images.append(name)
        if caption:
            self.captions.append((name, caption))
