"""What a joint model learns from: texts, or turns after what was said before them, with all mentions in them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from entlink.documents import Document, Mention, Span
from entlink.encoders.joint.tokens import Piece, pieces
from entlink.evaluation.scoring.items import annotated_turns
from entlink.learning.pairs.examples import Example
from entlink.linking.conversation.personal.gold_phrases import is_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from entlink.documents import GoldLink
    from entlink.kb.knowledge_base import KnowledgeBase

_TURNS_TO_TELL_OF = 10


class TaughtMention(NamedTuple):
    """A mention with the entities that are right for it, none where the knowledge base has none, and wrong ones.

    An optional one may be found or not: nothing is learnt of whether it is a mention.
    """

    span: Span
    entities: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    optional: bool = False


class TaughtText(NamedTuple):
    """A text or a turn with all mentions in it: no other span is one. The loss is multiplied by `weight`."""

    document: Document
    piece: Piece
    mentions: tuple[TaughtMention, ...] = ()
    weight: float = 1.0


def taught_texts(
    kb: KnowledgeBase, documents: Iterable[Document], speakers: Iterable[str] = ()
) -> Iterator[TaughtText]:
    """The documents, or the turns of conversations, with their gold, without negatives.

    Only the turns of `speakers` are learnt from, if some are named, and only those that were annotated; the others
    are context. Personal mentions are no names. Gold that the knowledge base lacks teaches that a mention stands
    there, and nothing of its entity.
    """
    wanted = {speaker.strip().casefold() for speaker in speakers}
    silent: Counter[str] = Counter()
    heard: set[str] = set()
    for document in documents:
        parts = pieces(document)
        whole = len(parts) != len(document.turns)
        annotated = annotated_turns(document)
        for at, piece in enumerate(parts):
            speaker = "" if whole else (document.turns[at].speaker or "")
            if not whole and (at not in annotated or (wanted and speaker.strip().casefold() not in wanted)):
                continue
            own = [gold for gold in document.gold if piece.start <= gold.span.start < piece.end]
            if own:
                heard.add(speaker)
            silent[speaker] += 1
            yield TaughtText(document, piece, tuple(_taught(kb, filter(is_name, own))))
    _tell_of_silence(silent, heard)


def _taught(kb: KnowledgeBase, gold: Iterable[GoldLink]) -> Iterator[TaughtMention]:
    """The gold of a piece, each span once."""
    by_span: dict[Span, list[GoldLink]] = {}
    for one in gold:
        by_span.setdefault(one.span, []).append(one)
    for span, told in by_span.items():
        found = (entity.id for one in told for name in one.entities if (entity := kb.resolve(name)))
        yield TaughtMention(span, tuple(dict.fromkeys(found)), (), all(one.optional for one in told))


def _tell_of_silence(turns: Counter[str], heard: set[str]) -> None:
    """A warning where a speaker has many turns and never a mention: most likely nobody annotated them."""
    for speaker, count in turns.items():
        if speaker and heard and speaker not in heard and count >= _TURNS_TO_TELL_OF:
            logging.getLogger(__name__).warning(
                "none of the %d turns of %r has gold. If nobody annotated them, leave them out: name the other "
                "speakers in training.speakers (--turns)",
                *(count, speaker),
            )


def with_negatives_of(
    texts: Sequence[TaughtText], mine: Callable[[Sequence[Example]], Sequence[Example]]
) -> list[TaughtText]:
    """The texts with the wrong entities that `mine` finds for their mentions."""
    asked = [
        Example(text.document, _mention(text.document, one.span), id)
        for text in texts
        for one in text.mentions
        for id in one.entities
    ]
    mined = iter(mine(asked))
    found = []
    for text in texts:
        told = []
        for one in text.mentions:
            wrong = dict.fromkeys(id for _ in one.entities for id in next(mined).negatives)
            told.append(one._replace(negatives=tuple(id for id in wrong if id not in one.entities)))
        found.append(text._replace(mentions=tuple(told)))
    return found


def _mention(document: Document, span: Span) -> Mention:
    return Mention(span, document.text[span.start : span.end])
