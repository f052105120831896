"""The pictures of infoboxes, which are most often the best ones of a page: their text is dropped, these are kept."""

from __future__ import annotations

import re

_BOX = re.compile(
    r"infobox|taxobox|speciesbox|geobox|chembox|drugbox|ficha|scheda|infoboks|infotaula|карточка|картка", re.I
)
# What begins after = is matched once, however long it is: no part of it can be taken by two parts of the pattern.
_PICTURE = re.compile(
    r"=\s*+(?:\[\[[^\[\]|:\n]++:\s*+)?([^\s\[\]|={}<>:][^\[\]|={}<>\n:]*\.(?:jpe?g|png|svg|gif|tiff?|webp))\s*+"
    r"(?=[|\]]|\Z)",
    re.IGNORECASE,
)


def pictures_of_box(name: str, arguments: str) -> str | None:
    """The links to the files that the arguments of an infobox name, in their order; None of another template."""
    if not _BOX.search(name):
        return None
    files = dict.fromkeys(found[1].strip() for found in _PICTURE.finditer(arguments))
    return "".join(f"[[File:{file}]]" for file in files) or None
