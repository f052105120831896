"""Linking on Apache Spark: a DataFrame of texts, documents or turns in, their links as a column out.

    from entlink.plugs.spark import link_frame
    linked = link_frame(spark.read.parquet("messages.parquet"), "/shared/shop.kb")

Each Python process of Spark opens the knowledge base once and links batches, with the same rows as `Linker.link_all`.
"""

from __future__ import annotations

import gc
import os
import pickle
import tarfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import msgspec

from entlink.documents import Document
from entlink.errors import EntlinkError, InputError, MissingExtraError, NotFoundError
from entlink.formats.documents.lines import decode_document, encode_document
from entlink.formats.documents.rows import DocumentRow
from entlink.kb.store.store import existing
from entlink.linking.config import (
    LinkerConfig,
    linker_beside,
    read_config,
    with_paths_from,
    with_paths_inside,
)
from entlink.linking.default import default_linker
from entlink.linking.linker import Linker, load
from entlink.sources.columns import listed

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

LINKS = "links"
LINK_TYPE = (
    "array<struct<start: bigint, end: bigint, text: string, entity: string, title: string, score: double, "
    "nil_type: string, turn: bigint>>"
)
_DOCUMENT = "_entlink_document"
_FIELDS = ("id", "text", "turns", "language", "date", "images", "mentions", "gold")  # of a document, as columns
_TEXTS = ("id", "language", "date")
_LINK = ("start", "end", "text", "entity", "title", "score", "nil_type")


class _Settings(msgspec.Struct):
    """What a worker needs to make its linker."""

    kb: str
    shipped: bool
    config: LinkerConfig
    options: dict[str, Any]
    skip: bool


def link_frame(
    frame: DataFrame,
    kb: str | Path,
    *,
    text: str = "text",
    document: str | None = None,
    config: LinkerConfig | str | Path | None = None,
    as_of: str | None = None,
    mentions: str | None = None,
    types: Sequence[str] = (),
    min_score: float | None = None,
    speakers: Sequence[str] = (),
    personal: bool | str | None = None,
    trust: bool = False,
    ship: bool = False,
    skip: bool = False,
) -> DataFrame:
    """The frame with a column `links`: an array of {start, end, text, entity, title, score, nil_type, turn}.

    A row is a document: its columns named `id`, `turns`, `language`, `date`, `images`, `mentions` and `gold` are
    those fields of it, and the column `text` its text. Or the column `document` holds documents as JSON. A row
    without a text has no links. The other options are those of `entlink.load`, and choose the same linker.

    The knowledge base must be on a path that all workers see; with `ship`, it and the linker saved beside it are sent
    to them. With `skip`, the links of a document that cannot be read are null, where it would be an error.
    """
    _check(frame, text, document)
    folder = existing(Path(kb)).absolute()
    options = {
        "as_of": as_of,
        "mentions": mentions,
        "types": tuple(types),
        "min_score": min_score,
        "speakers": tuple(speakers),
        "personal": personal,
        "trust": trust,
    }
    settings = _Settings(str(folder), ship, _config(folder, config, mentions, trust), options, skip)
    if ship:
        settings.config = with_paths_inside(settings.config, linker_beside(folder))
        _ship(frame.sparkSession, folder)
    packed = pickle.dumps(settings)
    wanted = frame.columns
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL(f"{LINKS} {LINK_TYPE}")
    given = frame.withColumn(_DOCUMENT, _as_json(frame, text) if document is None else frame[document])
    out = StructType([*frame.schema.fields, *schema.fields])
    return given.mapInArrow(lambda batches: link_batches(batches, packed, wanted), out)


def conversations(
    frame: DataFrame, id: str = "conversation", order: str = "turn", speaker: str = "speaker", text: str = "text"
) -> DataFrame:
    """A frame of one row a turn as one of documents with `id` and `turns`, which `link_frame` takes."""
    from pyspark.sql import functions as f

    speaks = f.col(speaker) if speaker in frame.columns else f.lit(None)
    turn = f.struct(f.col(order).alias("order"), f.col(text).alias("text"), speaks.cast("string").alias("speaker"))
    gathered = frame.groupBy(f.col(id).cast("string").alias("id")).agg(
        f.sort_array(f.collect_list(turn)).alias("turns")
    )
    return gathered.withColumn("turns", f.transform("turns", lambda one: one.dropFields("order")))


def _check(frame: DataFrame, text: str, document: str | None) -> None:
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError as problem:
        raise MissingExtraError("linking on Apache Spark", "spark") from problem
    column = document or text
    if column not in frame.columns and (document is not None or "turns" not in frame.columns):
        raise InputError(f"the frame has no column {column!r}; its columns are {listed(frame.columns)}")
    if LINKS in frame.columns:
        raise InputError(f"the frame has a column {LINKS!r} already. Drop or rename it first")


def _config(kb: Path, given: LinkerConfig | str | Path | None, mentions: str | None, trust: bool) -> LinkerConfig:
    """Chosen here, so that no two workers choose differently."""
    if given is None:
        return default_linker(kb, spans_given=mentions in ("given", "gold"), trust=trust).config
    return given if isinstance(given, LinkerConfig) else read_config(given)


def _as_json(frame: DataFrame, text: str) -> Any:
    """A column with each row as a document in JSON; fields that are null are left out."""
    from pyspark.sql import functions as f

    has_turns = "turns" in frame.columns
    columns = []
    for field in _FIELDS:
        if field == "text":
            if not has_turns:
                columns.append(f.coalesce(frame[text].cast("string"), f.lit("")).alias("text"))
        elif field in frame.columns:
            column = frame[field].cast("string") if field in _TEXTS else frame[field]
            columns.append(column.alias(field))
    return f.to_json(f.struct(*columns))


def _ship(session: SparkSession, kb: Path) -> None:
    """Send folders as archives, which every worker unpacks; one that comes later, too, so the files stay."""
    for folder in filter(Path.exists, (kb, linker_beside(kb))):
        path = Path(mkdtemp(prefix="entlink-")) / f"{folder.name}.tar"
        with tarfile.open(path, "w") as archive:
            for member in sorted(folder.iterdir()):
                archive.add(member, member.name)
        session.sparkContext.addArchive(f"{path.as_uri()}#{folder.name}")


def link_batches(
    batches: Iterator[pyarrow.RecordBatch], packed: bytes, columns: Sequence[str]
) -> Iterator[pyarrow.RecordBatch]:
    """On a worker: the batches with their links; `packed` says by which linker."""
    import pyarrow

    linker, skip = _linker(packed)
    kinds = [("start", pyarrow.int64()), ("end", pyarrow.int64())]
    kinds += [(name, pyarrow.string()) for name in ("text", "entity", "title")]
    kinds += [("score", pyarrow.float64()), ("nil_type", pyarrow.string()), ("turn", pyarrow.int64())]
    type = pyarrow.list_(pyarrow.struct(kinds))
    for batch in batches:
        given = batch.column(_DOCUMENT).to_pylist()
        links = pyarrow.array(_links(linker, given, skip=skip), type)
        arrays = [batch.column(name) for name in columns]
        yield pyarrow.RecordBatch.from_arrays([*arrays, links], [*columns, LINKS])


@lru_cache(maxsize=2)
def _linker(packed: bytes) -> tuple[Linker, bool]:
    """A process links many batches with one linker."""
    settings: _Settings = pickle.loads(packed)
    kb, config = Path(settings.kb), settings.config
    if settings.shipped:
        from pyspark import SparkFiles

        kb = Path(SparkFiles.getRootDirectory()) / kb.name
        config = with_paths_from(config, linker_beside(kb))
    gc.set_threshold(100_000, *gc.get_threshold()[1:])  # linking makes many records and no cycles
    try:
        return load(kb, config=config, **settings.options), settings.skip
    except NotFoundError as problem:
        raise NotFoundError(
            f"the worker {os.uname().nodename} does not see {kb}. Have the knowledge base under a path that all "
            "workers share, or send it to them: ship=True, or --ship"
        ) from problem


def _links(linker: Linker, given: Sequence[str | None], *, skip: bool) -> list[list[dict[str, Any]] | None]:
    """The links of each document, as `entlink link` writes them; of one that was skipped None."""
    documents: list[Document | None] = []
    for number, json in enumerate(given):
        try:
            documents.append(decode_document((json or "").encode(), file="a row of the frame", line_number=number))
        except EntlinkError:
            if not skip:
                raise
            documents.append(None)
    linked = linker.link_all(document for document in documents if document is not None)
    return [None if document is None else _rows(next(linked)) for document in documents]


def _rows(document: Document) -> list[dict[str, Any]]:
    if not document.links:
        return []
    row = msgspec.json.decode(encode_document(document), type=DocumentRow)
    return [
        {name: getattr(link, name) for name in _LINK} | {"turn": None if link.turn is msgspec.UNSET else link.turn}
        for link in row.links
    ]
