"""Traditional Chinese characters as simplified ones, so that a name is one name in both scripts.

Characters are converted one by one, with no regard to words: a name becomes the same in any text around it, and no
place in a text moves. Where opencc is not installed (the extra `zh`), nothing is converted.
"""

from __future__ import annotations

import re
from functools import cache

_BLOCKS = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0x20000, 0x323B0))
_HAN = re.compile("[" + "".join(f"{chr(first)}-{chr(end - 1)}" for first, end in _BLOCKS) + "]")


def simplified(text: str) -> str:
    """The text with every traditional character as its simplified one: as many characters as before."""
    if text.isascii() or _HAN.search(text) is None:
        return text
    return text.translate(_table())


def can_simplify() -> bool:
    """Whether opencc is there."""
    from importlib.util import find_spec

    return find_spec("opencc") is not None


@cache
def _table() -> dict[int, str]:
    """Each traditional character to what opencc makes of it alone; one that it makes several of stays."""
    if not can_simplify():
        return {}
    from opencc import OpenCC

    characters = [chr(code) for first, end in _BLOCKS for code in range(first, end)]
    converted = OpenCC("t2s").convert("\n".join(characters)).split("\n")
    table = {one: other for one, other in zip(characters, converted, strict=True) if one != other and len(other) == 1}
    return {ord(one): table.get(other, other) for one, other in table.items()}
