"""A warning where the Chinese names of an index were folded in another way than texts are now."""

from __future__ import annotations

import logging
from pathlib import Path

from entlink.kb.names.alias_index import AliasIndex
from entlink.text.scripts import can_simplify

# Names begin with these most often in traditional characters, and in either script.
_TRADITIONAL = "國東馬華陳劉張黃龍鄭臺灣義蘇羅納維聖達愛亞倫萊貝葉楊韓諾歐紐鐵電蘭賽藍長門廣興聯萬風雲雙頭"
_ANY = "中大小上北南西新高三金安台林王李天日海山石白人水太平头"


def warn_of_scripts(folder: Path, index: AliasIndex, *, is_simplified: bool) -> None:
    """Say what to do if traditional characters are converted now and were not at its making, or the reverse.

    An index of an older release has not been converted.
    """
    converts = can_simplify()
    if converts == is_simplified or not _has_key(index, _TRADITIONAL if converts else _ANY):
        return
    if converts:
        told = "names in traditional Chinese characters are not found until `entlink kb index` makes its index anew"
    else:
        told = (
            "names in traditional Chinese characters are not found: pip install 'entlink[zh]', or make its index "
            "anew without it by `entlink kb index`"
        )
    logging.getLogger(__name__).warning("%s: %s", folder, told)


def _has_key(index: AliasIndex, beginnings: str) -> bool:
    return any(next(index.shard_trie(one).iterkeys(one), None) is not None for one in beginnings)
