"""The public formats that documents with gold or with links come in, and how to tell which one a file has."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Literal, cast

from entlink.documents import Document, Record
from entlink.errors import InputError, SourceError
from entlink.formats.roles import gold_as_links, links_as_gold
from entlink.io.inputs import OnProblem, failing, open_input
from entlink.io.ledger import OnError
from entlink.text.nearest import nearest_question

Role = Literal["gold", "links"]
_HEAD = 65_536


class PublicFormat(Record, frozen=True):
    """A format of documents: what it holds, and the module in `entlink.formats` that reads and writes it.

    `lists` says that it is a list of links: a document without any does not appear in it.
    """

    name: str
    summary: str
    module: str
    holds: Literal["gold", "links", "both"]
    lists: bool = False
    is_written: bool = False

    def read(
        self, path: str | Path, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
    ) -> Iterator[Document]:
        """The documents of a file (or folder, where the format has them), with exact offsets."""
        return cast("Iterator[Document]", self._part("read")(path, on_error=on_error, on_problem=on_problem))

    def read_as(
        self, role: Role, path: str | Path, *, on_error: OnError = "stop", on_problem: OnProblem | None = None
    ) -> Iterator[Document]:
        """The documents with what the format holds as gold, or as links."""
        documents = self.read(path, on_error=on_error, on_problem=on_problem)
        if self.holds in ("both", role):
            return documents
        if role == "gold":
            return map(links_as_gold, documents)
        return _as_links(documents, failing(on_error, on_problem))

    def write(self, documents: Iterable[Document], file: BinaryIO) -> None:
        """Write documents to an open binary file; what the format cannot hold is an error or left out, as
        `docs/formats.md` says."""
        self._part("write")(documents, file)

    def looks_like(self, path: Path, head: bytes) -> bool:
        """Whether a file that begins so, or a folder (with an empty head), seems to have this format."""
        return bool(self._part("looks_like")(path, head))

    def _part(self, name: str) -> Callable[..., Any]:
        return cast("Callable[..., Any]", getattr(import_module(f"entlink.formats.{self.module}"), name))


def _as_links(documents: Iterable[Document], fail: Callable[[InputError], None]) -> Iterator[Document]:
    for document in documents:
        try:
            linked = gold_as_links(document)
        except InputError as error:
            fail(error)
        else:
            yield linked


# In the order in which they are tried: the pickier first, so that a format that takes almost anything comes last.
_ALL = (
    PublicFormat("conel", "dialogues of ConEL-1 and ConEL-2 with gold", "public.conel", "gold"),
    PublicFormat("wikidiverse", "captioned pictures of WikiDiverse with gold", "public.wikidiverse", "gold"),
    PublicFormat("melbench", "sentences of MELBench with pictures and gold", "public.melbench", "gold"),
    PublicFormat("conel1-run", "a linker's answers on ConEL-1, by dialogue and turn", "outputs.conel1", "links"),
    PublicFormat(
        "conel-run",
        "rows [dialogue, turn, mention, entity] of ConEL-2: a run or gold",
        "outputs.conel2",
        "links",
        True,
    ),
    PublicFormat("elevant", "benchmarks of ELEVANT", "public.elevant", "gold", is_written=True),
    PublicFormat("zeshel", "mentions of ZESHEL beside its documents", "public.zeshel", "gold"),
    PublicFormat("tweeki", "TweekiGold, as JSON lines or tokens", "public.tweeki", "gold"),
    PublicFormat("tempel", "JSON lines of TempEL, a mention as of a date a line", "public.tempel", "gold"),
    PublicFormat(
        "blink", "JSON lines of BLINK, a mention a line, or of ELQ", "public.blink", "gold", is_written=True
    ),
    PublicFormat("aida", "AIDA CoNLL-YAGO, a token a line", "public.aida", "gold", is_written=True),
    PublicFormat("nif", "NIF in Turtle, as GERBIL speaks it", "public.nif", "gold", is_written=True),
    PublicFormat("neleval", "neleval's tab-separated lines, a mention a line", "public.neleval", "links", True, True),
    PublicFormat("blink-output", "rows of BLINK with its predictions", "outputs.blink", "links", True),
    PublicFormat("elq-output", "what ELQ predicted for each text", "outputs.elq", "links"),
    PublicFormat("rel-output", "mentions that REL's API or its batch mode found", "outputs.rel", "links", True),
    PublicFormat("genre-output", "GENRE's marked-up text, or its hypotheses", "outputs.genre", "links"),
    PublicFormat("refined-output", "spans of ReFinED as JSON", "outputs.refined", "links"),
    PublicFormat("spacy-output", "spaCy's Doc.to_json with knowledge base ids", "outputs.spacy", "links"),
    PublicFormat("fever", "claims of FEVER with their verdicts, without spans", "public.fever", "gold"),
    PublicFormat("tac-kbp", "mentions of TAC-KBP in a tab file beside its XML documents", "public.tac_kbp", "gold"),
    PublicFormat("cleek", "JSON documents linked to Wikipedia and CN-DBpedia, as in CLEEK", "public.cleek", "gold"),
    PublicFormat(
        "linked-mentions", "JSON lines with a text and its linked mentions", "public.linked_mentions", "gold"
    ),
    PublicFormat("hansel", "Hansel's JSON lines, a mention a line", "public.hansel", "gold"),
    PublicFormat("jsonl", "entlink's own documents as JSON lines", "public.jsonl", "both", is_written=True),
)
PUBLIC_FORMATS: Mapping[str, PublicFormat] = MappingProxyType({each.name: each for each in _ALL})


def public_format(name: str) -> PublicFormat:
    """The format of that name."""
    if name not in PUBLIC_FORMATS:
        hint = f"{nearest_question(name, PUBLIC_FORMATS)}Choose among {', '.join(PUBLIC_FORMATS)}"
        raise SourceError(f"there is no format {name!r}", hint=hint)
    return PUBLIC_FORMATS[name]


def tell_format(path: str | Path) -> PublicFormat:
    """The format that the beginning of a file, or the look of a folder, shows."""
    place = Path(path)
    head = b""
    if not place.is_dir():
        with open_input(place) as file:
            head = file.read(_HEAD)
        if not head.strip():
            raise SourceError("the file is empty", str(path), hint="Check how it was made")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        hint = "Convert it to UTF-8, for example with iconv -f UTF-16 -t UTF-8"
        raise SourceError("the file is in UTF-16", str(path), "byte 0", hint)
    for each in _ALL:
        if each.looks_like(place, head):
            return each
    hint = f"Name it (--gold-format, --format): {', '.join(PUBLIC_FORMATS)}"
    raise SourceError("the format is not recognised", str(path), hint=hint)
