"""Bold and italics: which apostrophes of a line are markup, and which are text."""

from __future__ import annotations

import re

_RUN = re.compile("''+")
_LETTERS = {2: 0, 3: 0, 4: 1, 5: 0}  # apostrophes of text in a run of so many


def without_quotes(line: str) -> str:
    """The line without the signs of bold and italics."""
    if "'''" not in line:
        return line.replace("''", "")
    runs = _RUN.findall(line)
    if "''''" not in line and len(runs) % 2 == 0 and runs.count("'''") % 2 == 0:
        return line.replace("'''", "").replace("''", "")
    return _balanced(_RUN.split(line), [len(run) for run in runs])


def _balanced(texts: list[str], lengths: list[int]) -> str:
    kept = [_LETTERS.get(length, length - 5) for length in lengths]
    signs = [length - letters for length, letters in zip(lengths, kept, strict=True)]
    if _both_are_open(signs):
        place = _apostrophe(texts, signs)
        if place is not None:
            kept[place] += 1
    pieces = [text + "'" * count for text, count in zip(texts, kept, strict=False)]
    return "".join(pieces) + texts[-1]


def _both_are_open(signs: list[int]) -> bool:
    bold = sum(sign != 2 for sign in signs)
    italic = sum(sign != 3 for sign in signs)
    return bold % 2 == 1 and italic % 2 == 1


def _apostrophe(texts: list[str], signs: list[int]) -> int | None:
    """Which bold sign is an apostrophe before italics, as in dell'''Arte'': one after a letter, best a single one."""
    bold = [place for place, sign in enumerate(signs) if sign == 3 and texts[place][-1:].isalpha()]
    single = (place for place in bold if texts[place][-2:-1] in ("", " "))
    return next(single, bold[0] if bold else None)
