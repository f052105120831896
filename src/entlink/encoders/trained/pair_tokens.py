"""Mentions where they stand, and entities, as the tokens of a model that was trained on pairs of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from entlink.encoders.text.tokens import Tokens, plain, readable_end, signs_of
from entlink.errors import InputError, SpanError
from entlink.text.spans import OFFSETS, span_problem

if TYPE_CHECKING:
    from entlink.documents import Document, Entity, Mention
    from entlink.encoders.trained.settings import PairSettings

_OF_A_HIDDEN_NAME = 3  # tokens: the mask and its markers
_CHARACTERS_A_TOKEN = 6  # some more than words have; what turns out to be too little is read again, further
_FURTHER = 4  # times as far
_LONGEST_WORD = 100  # a cut is moved to the end of a word if that is no further
_SPACE = re.compile(r"\s")
_MARKERS = ("before a mention", "after a mention", "after a title")


class PairReader:
    """A tokenizer with the settings of a model.

    A mention reads `[CLS] left [m] surface [/m] right [SEP]`, an entity `[CLS] title [t] description [SEP]`. The
    place `first` to `last` is that of the surface or title; where it has no tokens, that of its markers. One that
    `hides` reads a mask in the place of every surface that has words.
    """

    def __init__(self, tokenizer: Any, settings: PairSettings, *, hides: bool = False) -> None:
        self.settings, self._tokenizer, self._hides = settings, tokenizer, hides
        self._before, self._after = signs_of(tokenizer)
        self._open, self._close, self._title = (
            _marker_id(tokenizer, marker, where) for marker, where in zip(settings.markers, _MARKERS, strict=True)
        )
        self._mask: int | None = next(
            (id for sign in ("[MASK]", "<mask>") if (id := tokenizer.token_to_id(sign)) is not None), None
        )
        signs = len(self._before) + len(self._after)
        self._mention_room = settings.mention_tokens - signs - 2
        self._entity_room = settings.entity_tokens - signs - 1
        if min(self._mention_room, self._entity_room) < 1:
            raise InputError(
                f"mention_tokens = {settings.mention_tokens} and entity_tokens = {settings.entity_tokens} leave no "
                f"room for a word beside {signs} signs and the markers. Set both to 8 or more"
            )

    def hiding(self, mention_tokens: int) -> PairReader:
        """One that reads so many tokens of what is around a mention, and a mask in its place."""
        settings = msgspec.structs.replace(self.settings, mention_tokens=mention_tokens)
        return PairReader(self._tokenizer, settings, hides=True)

    @property
    def knows_a_mask(self) -> bool:
        """Whether the tokenizer has a sign that hides words."""
        return self._mask is not None

    @property
    def pad_id(self) -> int:
        """What a batch is filled up with."""
        return next((id for sign in ("[PAD]", "<pad>") if (id := self._tokenizer.token_to_id(sign)) is not None), 0)

    @property
    def most_tokens(self) -> int:
        """The longest that a mention with an entity reads."""
        return self.settings.mention_tokens + self.settings.entity_tokens - len(self._before)

    def mention(self, document: Document, mention: Mention) -> Tokens:
        """The mention among the words around it; in a conversation, none of later turns."""
        return self.mentions([(document, mention)])[0]

    def entity(self, entity: Entity) -> Tokens:
        """The title and the beginning of the description."""
        return self.entities([entity])[0]

    def mentions(self, pairs: Sequence[tuple[Document, Mention]]) -> list[Tokens]:
        """The tokens of each mention: as many before it as after it, where both are there."""
        for document, mention in pairs:
            _check_span(document, mention)
        room = self._mention_room
        surfaces = self._read([_whole(mention.text) for _, mention in pairs], room)
        if self._hides and self._mask is not None:
            surfaces = [[self._mask] if surface else [] for surface in surfaces]
        lefts = self._read([_Part(one.text, 0, mention.span.start) for one, mention in pairs], room, last=True)
        ends = ((one.text, mention.span.end, readable_end(one, mention.span.end)) for one, mention in pairs)
        rights = self._read([_Part(*end) for end in ends], room)
        return [self._marked(*parts) for parts in zip(surfaces, lefts, rights, strict=True)]

    def entities(self, entities: Sequence[Entity]) -> list[Tokens]:
        """The tokens of each entity."""
        titles = self._read([_whole(entity.title) for entity in entities], self._entity_room)
        told = self._read([_whole(entity.description) for entity in entities], self._entity_room)
        return [self._titled(title, rest) for title, rest in zip(titles, told, strict=True)]

    def joint(self, mention: Tokens, entity: Tokens) -> Tokens:
        """Both as one text; the place is that of the mention."""
        return Tokens([*mention.ids, *entity.ids[len(self._before) :]], mention.first, mention.last)

    def hidden(self, mention: Tokens) -> Tokens:
        """The mention with a mask in the place of its words; as it is for a model that knows no mask."""
        first, last = mention.first, mention.last
        if self._mask is None or not self.has_words(mention):
            return mention
        return Tokens([*mention.ids[:first], self._mask, *mention.ids[last:]], first, first + 1)

    def has_words(self, tokens: Tokens) -> bool:
        """Whether the surface or the title has tokens of its own; of a hidden surface, whether any are around."""
        if self._hides and len(tokens.ids) == len(self._before) + len(self._after) + _OF_A_HIDDEN_NAME:
            return False
        return tokens.ids[tokens.first] not in (self._open, self._title)

    def _marked(self, surface: list[int], left: list[int], right: list[int]) -> Tokens:
        spare = self._mention_room - len(surface)
        before = min(len(left), max(spare // 2, spare - len(right)))
        left = left[len(left) - before :]
        right = right[: spare - before]
        ids = [*self._before, *left, self._open, *surface, self._close, *right, *self._after]
        opened = len(self._before) + len(left)
        return Tokens(ids, opened + 1, opened + 1 + len(surface)) if surface else Tokens(ids, opened, opened + 2)

    def _titled(self, title: list[int], told: list[int]) -> Tokens:
        told = told[: self._entity_room - len(title)]
        ids = [*self._before, *title, self._title, *told, *self._after]
        first = len(self._before)
        return Tokens(ids, first, first + (len(title) or 1))

    def _read(self, parts: Sequence[_Part], room: int, *, last: bool = False) -> list[list[int]]:
        """The first or the last tokens of each part, as many as there is room for; of a long one, little is read."""
        reach = room * _CHARACTERS_A_TOKEN
        cuts = [_cut(part, reach, last=last) for part in parts]
        found = self._ids(cuts)
        for at, part in enumerate(parts):
            wider = reach
            while len(found[at]) < room and len(cuts[at]) < part.end - part.start:
                wider *= _FURTHER
                cuts[at] = _cut(part, wider, last=last)
                found[at] = self._ids([cuts[at]])[0]
        return [ids[-room:] if last else ids[:room] for ids in found]

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        read = self._tokenizer.encode_batch_fast([plain(text) for text in texts], add_special_tokens=False)
        return [one.ids for one in read]


class _Part(NamedTuple):
    """A piece of a text that may be read; not cut out yet, since texts may be long and mentions many."""

    text: str
    start: int
    end: int


def _whole(text: str) -> _Part:
    return _Part(text, 0, len(text))


def _check_span(document: Document, mention: Mention) -> None:
    start, end, size = mention.span.start, mention.span.end, len(document.text)
    if not 0 <= start <= end <= size:
        problem = span_problem(start, end)
        raise SpanError(f"{problem}; the document {document.id!r} has {size} characters. {OFFSETS}")


def _marker_id(tokenizer: Any, marker: str, where: str) -> int:
    found: int | None = tokenizer.token_to_id(marker)
    if found is None:
        raise InputError(
            f"the marker {marker!r}, which is to stand {where}, is not in the vocabulary of the model. Set `markers` "
            "to three tokens that are and that no text uses; a BERT has [unused0], [unused1] and so on"
        )
    return found


def _cut(part: _Part, reach: int, *, last: bool) -> str:
    """About `reach` characters of the beginning or the end of a part, less a word that the cut would break."""
    text, start, end = part
    if end - start <= reach:
        return text[start:end]
    if last:
        begin = end - reach
        space = _SPACE.search(text, begin, min(end, begin + _LONGEST_WORD))
        return text[space.end() if space else begin : end]
    stop = start + reach
    cut = max(text.rfind(sign, max(start, stop - _LONGEST_WORD), stop) for sign in " \n\t")
    return text[start : cut if cut > start else stop]
