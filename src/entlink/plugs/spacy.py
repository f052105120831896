"""A spaCy component that links: `nlp.add_pipe("entlink", config={"kb": "my.kb"})`.

It sets `doc.ents`, `doc.spans["entlink"]`, `doc._.entlink` (a Document) and `span._.entlink` (a Link).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from entlink.documents import Document, Link, Mention, Span
from entlink.errors import ConfigError, MissingExtraError
from entlink.linking.linker import Linker, load

try:
    from spacy.language import Language
    from spacy.pipeline import EntityLinker
    from spacy.tokens import Doc
    from spacy.tokens import Span as TokenSpan
    from spacy.util import filter_spans
except ModuleNotFoundError as problem:
    if problem.name is None or problem.name.partition(".")[0] != "spacy":
        raise
    raise MissingExtraError("the spaCy component", "spacy") from problem

NAME = "entlink"
NIL: str = EntityLinker.NIL
UNTYPED = "ENTITY"

Mentions = Literal["detect", "entities"]


_SAVED = "settings.json"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the component was configured with."""

    kb: str | None = None
    linker_config: str | None = None
    mentions: Mentions = "detect"
    types: tuple[str, ...] = ()
    min_score: float | None = None
    as_of: str | None = None
    overwrite_ents: bool = False


class EntlinkComponent:
    """Links the documents of a pipeline.

    A knowledge base serves one thread of one process, so each that uses the component opens its own.
    Saving writes the settings, not the knowledge base. Loading takes the saved settings only when the
    component was made without a `kb`, so that one given in the pipeline's config has the last word.
    """

    def __init__(self, settings: Settings) -> None:
        self._configure(settings)

    def _configure(self, settings: Settings) -> None:
        self.settings = settings
        self._opened = threading.local()
        if settings.kb is not None:
            self.linker  # noqa: B018  a wrong path is told now and not at the first text

    def __reduce__(self) -> tuple[Any, ...]:
        return EntlinkComponent, (self.settings,)

    @property
    def linker(self) -> Linker:
        """The linker of this thread."""
        # A forked process keeps what its parent opened, unused: closing it there could harm the parent.
        linkers: dict[int, Linker] = self._opened.__dict__.setdefault("linkers", {})
        process = os.getpid()
        if process not in linkers:
            linkers[process] = _open(self.settings)
        return linkers[process]

    def close(self) -> None:
        """Close the knowledge base that this thread has open; it is opened again when need be."""
        linkers: dict[int, Linker] = self._opened.__dict__.get("linkers", {})
        linker = linkers.pop(os.getpid(), None)
        if linker is not None:
            linker.kb.close()

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The settings."""
        return msgspec.json.encode(self.settings)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> EntlinkComponent:
        """Take saved settings, unless the component has a knowledge base already."""
        if self.settings.kb is None:
            self._configure(msgspec.json.decode(data, type=Settings))
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the settings into a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _SAVED).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> EntlinkComponent:
        """Like `from_bytes`, from the folder that `to_disk` wrote."""
        return self.from_bytes((Path(path) / _SAVED).read_bytes())

    def __call__(self, doc: Doc) -> Doc:
        return self._annotated(doc, self.linker.link(self._document(doc)))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 128) -> Iterator[Doc]:
        """Link a stream of docs, a batch at a time."""
        docs_left = iter(stream)
        while docs := list(islice(docs_left, batch_size)):
            documents = self.linker.link_all([self._document(doc) for doc in docs])
            for doc, document in zip(docs, documents, strict=True):
                yield self._annotated(doc, document)

    def _document(self, doc: Doc) -> Document:
        mentions = None
        if self.settings.mentions == "entities":
            mentions = tuple(map(_mention, doc.ents))
        return Document("doc", doc.text, language=doc.lang_ or None, mentions=mentions)

    def _annotated(self, doc: Doc, document: Document) -> Doc:
        spans = [self._span(doc, link) for link in document.links]
        doc.spans[NAME] = spans
        _keep(doc, document, spans)
        if self.settings.mentions == "entities":
            doc.ents = self._same_ents(doc, spans)
        else:
            doc.ents = self._merged_ents(doc, [span for span in spans if span.kb_id_ != NIL])
        return doc

    def _span(self, doc: Doc, link: Link) -> TokenSpan:
        start, end = link.mention.span.start, link.mention.span.end
        entity = NIL if link.entity is None else link.entity
        span = doc.char_span(start, end, self._label(link), entity, alignment_mode="expand")
        assert span is not None  # within the text there is always a token to widen to
        return span

    def _label(self, link: Link) -> str:
        """The type of the mention, else the entity's first."""
        types = () if link.entity is None else self.linker.kb.types(link.entity)
        return link.mention.type or link.nil_type or next(iter(types), UNTYPED)

    def _same_ents(self, doc: Doc, spans: Iterable[TokenSpan]) -> list[TokenSpan]:
        """The ents as they were, with what they are linked to."""
        linked = {(span.start, span.end): span.kb_id for span in spans}
        return [self._relinked(ent, linked.get((ent.start, ent.end), 0)) for ent in doc.ents]

    def _merged_ents(self, doc: Doc, spans: list[TokenSpan]) -> list[TokenSpan]:
        """Ents found before and spans found now. Where they clash, `overwrite_ents` says which stay."""
        spans = filter_spans(spans)
        if self.settings.overwrite_ents:
            return spans + _apart_from(spans, doc.ents)
        before = self._same_ents(doc, spans)
        return before + _apart_from(before, spans)

    def _relinked(self, ent: TokenSpan, kb_id: int) -> TokenSpan:
        if not kb_id or (ent.kb_id and not self.settings.overwrite_ents):
            return ent
        return TokenSpan(ent.doc, ent.start, ent.end, label=ent.label, kb_id=kb_id, span_id=ent.id)


def make_entlink(
    nlp: Language,
    name: str,
    kb: str | None,
    linker_config: str | None,
    mentions: str,
    types: list[str],
    min_score: float | None,
    as_of: str | None,
    overwrite_ents: bool,
) -> EntlinkComponent:
    """What spaCy calls to make the component `entlink`."""
    if mentions not in get_args(Mentions):
        raise ConfigError(
            f'the spaCy component {name!r}: mentions is {mentions!r}. It must be "detect" or "entities"'
        )
    return EntlinkComponent(
        Settings(
            kb=kb,
            linker_config=linker_config,
            mentions="entities" if mentions == "entities" else "detect",
            types=tuple(types),
            min_score=min_score,
            as_of=as_of,
            overwrite_ents=overwrite_ents,
        )
    )


def _open(settings: Settings) -> Linker:
    if settings.kb is None:
        raise ConfigError(
            'the spaCy component needs a knowledge base: nlp.add_pipe("entlink", config={"kb": "my.kb"})'
        )
    return load(
        settings.kb,
        config=settings.linker_config,
        as_of=settings.as_of,
        mentions="given" if settings.mentions == "entities" else None,
        types=settings.types,
        min_score=settings.min_score,
    )


def _mention(ent: TokenSpan) -> Mention:
    return Mention(Span(ent.start_char, ent.end_char), ent.text, ent.label_ or None)


def _apart_from(taken: Iterable[TokenSpan], spans: Iterable[TokenSpan]) -> list[TokenSpan]:
    """The spans that share no token with those taken."""
    tokens = {number for span in taken for number in range(span.start, span.end)}
    return [span for span in spans if tokens.isdisjoint(range(span.start, span.end))]


def _keep(doc: Doc, document: Document, spans: Iterable[TokenSpan]) -> None:
    """Put the linked document where the extensions look.

    As bytes: spaCy writes a doc's user data when it saves the doc or sends it to another process, and can
    write plain values only. Links lie one by one, so that a span need not decode those of all others.
    """
    numbers: dict[str, int] = {}
    for number, span in enumerate(spans):
        # Two links may widen to the same tokens; the span then shows the one that is not NIL.
        if _place(span) not in numbers or span.kb_id_ != NIL:
            numbers[_place(span)] = number
    doc.user_data[NAME] = {
        "document": msgspec.msgpack.encode(msgspec.structs.replace(document, links=())),
        "links": [msgspec.msgpack.encode(link) for link in document.links],
        "numbers": numbers,
    }


def _place(span: TokenSpan) -> str:
    return f"{span.start_char}-{span.end_char}"


def linked_document(doc: Doc) -> Document | None:
    """What `doc._.entlink` gives: the document as it was linked, None when it was not."""
    kept = doc.user_data.get(NAME)
    if kept is None:
        return None
    document = msgspec.msgpack.decode(kept["document"], type=Document)
    links = tuple(msgspec.msgpack.decode(link, type=Link) for link in kept["links"])
    return msgspec.structs.replace(document, links=links)


def link_of_span(span: TokenSpan) -> Link | None:
    """What `span._.entlink` gives: the link of exactly these tokens, None when there is none."""
    kept = span.doc.user_data.get(NAME)
    if kept is None or _place(span) not in kept["numbers"]:
        return None
    return msgspec.msgpack.decode(kept["links"][kept["numbers"][_place(span)]], type=Link)


def _register() -> None:
    """Make the component and the extensions known to spaCy, which imports this file to find them."""
    Doc.set_extension(NAME, getter=linked_document, force=True)
    TokenSpan.set_extension(NAME, getter=link_of_span, force=True)
    Language.factory(
        NAME,
        default_config=msgspec.to_builtins(Settings()) | {"types": []},
        assigns=["doc.ents", "doc.spans", "doc._.entlink", "span._.entlink", "token.ent_kb_id"],
        func=make_entlink,
    )


_register()
