"""Bold and italics: which apostrophes of a line are markup, and which are text."""

from __future__ import annotations

import re

from entlink.sources.wikitext.seams import SEAM

_RUN = re.compile("''+")
_LETTERS = {2: 0, 3: 0, 4: 1, 5: 0}  # apostrophes of text in a run of so many
_TABLE_SIGNS = ("|", "!")


def without_quotes(line: str) -> str:
    """The line without the signs of bold and italics; a seam is left where they kept other signs apart."""
    gone = SEAM if "]'" in line or "['" in line or line.startswith(_TABLE_SIGNS) else ""
    if "'''" not in line:
        return line.replace("''", gone)
    runs = _RUN.findall(line)
    if "''''" not in line and len(runs) % 2 == 0 and runs.count("'''") % 2 == 0:
        return line.replace("'''", gone).replace("''", gone)
    return _balanced(_RUN.split(line), [len(run) for run in runs], gone)


def _balanced(texts: list[str], lengths: list[int], gone: str) -> str:
    kept = [_LETTERS.get(length, length - 5) for length in lengths]
    signs = [length - letters for length, letters in zip(lengths, kept, strict=True)]
    pieces = [text + "'" * count for text, count in zip(texts, [*kept, 0], strict=True)]
    if _both_are_open(signs):
        place = _apostrophe(pieces, signs)
        if place is not None:
            pieces[place] += "'"
    return gone.join(pieces)


def _both_are_open(signs: list[int]) -> bool:
    bold = sum(sign != 2 for sign in signs)
    italic = sum(sign != 3 for sign in signs)
    return bold % 2 == 1 and italic % 2 == 1


def _apostrophe(texts: list[str], signs: list[int]) -> int | None:
    """Which bold sign is an apostrophe before italics, as in dell'''Arte''.

    Best one after a single letter, else the first that is not after a blank, else the first.
    """
    bold = [place for place, sign in enumerate(signs) if sign == 3]
    attached = [place for place in bold if texts[place][-1:] != " "]
    single = (place for place in attached if texts[place][-2:-1] == " ")
    return next(single, next(iter(attached or bold), None))
