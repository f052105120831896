"""What the comments of revisions tell of moves: a page that got another title."""

from __future__ import annotations

import re
from collections.abc import Sequence

from entlink.sources.mediawiki.dumps.raw_page import Move

# Words of a comment that tells of a move, and the words that stand between the old title and the new one, as
# MediaWiki writes both by itself.
_VERBS = (
    "moved",
    "renamed",
    "verschob",  # German, also verschoben
    "déplac",  # French
    "renomm",
    "traslad",  # Spanish
    "movió",
    "spostat",  # Italian
    "moveu",  # Portuguese
    "hernoemd",  # Dutch
    "verplaatst",
    "flytta",  # Swedish, Norwegian
    "flytted",  # Danish
    "flyttet",
    "siirsi",  # Finnish
    "przeni",  # Polish
    "přesunu",  # Czech
    "presunu",  # Slovak
    "átnevez",  # Hungarian
    "a mutat",  # Romanian
    "переимен",  # Russian
    "перейменув",  # Ukrainian
    "taşı",  # Turkish
    "memindahkan",  # Indonesian
    "mogut",  # Catalan
    "移动",  # Chinese
    "移動",  # Chinese, Japanese
    "옮",  # Korean
    "نقل",  # Arabic
    "منتقل",  # Persian
    "העביר",  # Hebrew
)
_BETWEEN = (
    "to",
    "moved to",
    "nach",
    "vers",
    "en",
    "a",
    "al",
    "para",
    "naar",
    "hernoemd naar",
    "verplaatst naar",
    "till",
    "til",
    "uudelle nimelle",
    "na",
    "do",
    "lapot a következő névre",
    "la",
    "в",
    "на",
    "переименована в",
    "переименовано в",
    "перейменована на",
    "sayfasını",
    "ke",
    "至",
    "到",
    "移动到",
    "移動到",
    "移动至",
    "移動至",
    "を",
    "문서를",
    "إلى",
    "به",
    "לשם",
)
_AROUND = r"[\s:\"'«»„“”‚‘’「」『』《》]*+"
_LINK = r"\[\[:?([^\[\]|]+)(?:\|[^\[\]]*)?\]\]"
_VERB = re.compile("|".join(map(re.escape, _VERBS)), re.IGNORECASE)
_TITLES = re.compile(rf"{_LINK}{_AROUND}(?:{'|'.join(map(re.escape, _BETWEEN))}){_AROUND}{_LINK}", re.IGNORECASE)


def title_as_of(title: str, moves: Sequence[Move], time: str) -> str:
    """The title at a time of a page that has this one now; the moves are those of its revisions, in order.

    What does not lead to the title is passed over: a redirect that a move has left behind tells of that move, too.
    """
    for move in reversed(moves):
        if move.time < time:
            break
        if move.target == title:
            title = move.source
    return title


def may_tell_of_move(comment: bytes) -> bool:
    """Whether it is worth while to read a comment, still packed as XML: it has two links or more."""
    return comment.count(b"[[") > 1


def move_told(comment: str, time: str) -> Move | None:
    """The move that a comment tells of, such as "moved page [[A]] to [[B]]: spelling"; None if of none."""
    if not (titles := _TITLES.search(comment)) or not _VERB.search(comment):
        return None
    source, target = (" ".join(title.replace("_", " ").split()) for title in titles.groups())
    return Move(time, source, target) if source and target else None
