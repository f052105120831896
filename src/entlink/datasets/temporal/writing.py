"""The files of a snapshot: rows with their contexts and targets, and the pool of entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby
from math import fsum
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from entlink.datasets.temporal.counting import TARGETS, bucket_rows, view_parts
from entlink.datasets.temporal.filters import PAIRS
from entlink.datasets.temporal.options import TemporalOptions
from entlink.datasets.temporal.rows import CATEGORIES, POOL, SUBSETS, PoolEntity, TemporalRow
from entlink.datasets.temporal.sampling import CHOSEN, WANTED
from entlink.datasets.temporal.staging import TEXTS, TextRow
from entlink.datasets.temporal.tokens import Tokens
from entlink.engine.protocol import Columns, Engine, JsonFiles, ParquetFiles
from entlink.kb.names.index_rows import JsonLines
from entlink.text.titles import overlap_category

CONTEXTS: Columns = {
    **dict.fromkeys(("p", "r", "o"), "BIGINT"),
    **dict.fromkeys(("before", "after"), "STRING"),
}
QIDS: Columns = {"e": "BIGINT", "q": "STRING"}


class _Context(msgspec.Struct):
    p: int
    r: int
    o: int
    before: str
    after: str


def write_contexts(
    engine: Engine, part: Path, number: int, sampled: Path, options: TemporalOptions, path: Path
) -> None:
    """Write what stands around the chosen mentions of a part."""
    tokens = Tokens(options.tokenizer)
    query = "SELECT r, o, a, b FROM staged ORDER BY r, o"
    wanted = groupby(bucket_rows(engine, sampled / WANTED, number, query, "part"), itemgetter(0))
    texts = _texts(part / TEXTS)
    with closing(JsonLines(path)) as lines:
        for record, places in wanted:
            text = next(row.x for row in texts if row.r == record)
            for _, order, start, end in places:
                before = tokens.before(text, start, options.context_len)
                after = tokens.after(text, end, options.context_len)
                lines.add(_Context(number, record, order, before, after))


def _texts(path: Path) -> Iterator[TextRow]:
    decoder = msgspec.json.Decoder(TextRow)
    with path.open("rb") as file:
        for line in file:
            yield decoder.decode(line)


def write_snapshot(
    engine: Engine,
    snapshot: int,
    date: str,
    work: Path,
    parts: Sequence[Path],
    contexts: Sequence[Path],
    qids: Path,
    options: TemporalOptions,
    path: Path,
) -> None:
    """Write the folder of a snapshot: its rows by subset, and its entities."""
    path.mkdir(exist_ok=True)
    with engine.sql(path.parent) as session:
        session.view("targets", ParquetFiles([work / "counted" / TARGETS]))
        session.view("qids", JsonFiles([qids], QIDS))
        view_parts(session, parts, TEXTS)
        session.table(
            "pages",
            "SELECT targets.e AS e, targets.p AS p, targets.r AS r, n, t, created, revised, coalesce(q, '') AS q "
            "FROM (SELECT s, e, p, r, n, t, created, revised, row_number() OVER (PARTITION BY e ORDER BY p, r) "
            f"AS place FROM targets WHERE s = {snapshot}) targets LEFT JOIN qids ON qids.e = targets.e "
            "WHERE place = 1",
        )
        with closing(JsonLines(path / POOL)) as lines:
            for entity in session.rows(
                "SELECT pages.e AS e, q, t, x, created, revised FROM pages "
                "JOIN texts ON texts.p = pages.p AND texts.r = pages.r ORDER BY e"
            ):
                lines.add(_entity(entity, options.tokenizer))
        session.view("chosen", ParquetFiles([work / "sampled" / CHOSEN]))
        session.view("pairs", ParquetFiles([work / "filtered" / PAIRS]))
        session.view("contexts", JsonFiles(contexts, CONTEXTS))
        averages = _averages(
            session.rows(
                f"SELECT e, n, t FROM pairs WHERE s = {snapshot} AND EXISTS "
                f"(SELECT 1 FROM chosen WHERE chosen.s = {snapshot} AND chosen.e = pairs.e) ORDER BY e, f"
            )
        )
        rows = session.rows(_ROWS.format(snapshot=snapshot))
        files = {subset: JsonLines(path / f"{subset}.jsonl") for subset in SUBSETS}
        for row in rows:
            made = _row(row, date, averages)
            files[made.subset].add(_with_pieces(made, options.tokenizer))
        for file in files.values():
            file.close()


_ROWS = (
    "SELECT chosen.e AS e, chosen.u AS u, chosen.k AS k, g, f, chosen.x AS extracted, "
    "chosen.n AS n, chosen.t AS t, i, mentions, wiki, place, d, l, before, after, "
    "anchors.n AS anchor_len, anchors.created AS anchor_created, "
    "anchors.revised AS anchor_revised, targets.q AS q, targets.t AS title, targets.n AS target_len, "
    "targets.created AS created, targets.revised AS revised, texts.x AS target FROM chosen "
    "JOIN contexts ON contexts.p = chosen.p AND contexts.r = chosen.page AND contexts.o = chosen.o "
    "JOIN pages anchors ON anchors.p = chosen.p AND anchors.r = chosen.page "
    "JOIN pages targets ON targets.e = chosen.e "
    "JOIN texts ON texts.p = targets.p AND texts.r = targets.r "
    "WHERE chosen.s = {snapshot} ORDER BY u, e, k"
)


def _averages(rows: Iterator[tuple[Any, ...]]) -> dict[int, float]:
    """Of each entity the mean prior of its mentions, each counted once."""
    found = {}
    for entity, of_entity in groupby(rows, itemgetter(0)):
        priors = [links / all_links for _, links, all_links in of_entity]
        found[entity] = fsum(priors) / len(priors)
    return found


def _entity(row: tuple[Any, ...], tokenizer: str | None) -> object:
    id, qid, title, text, created, revised = row
    return _with_pieces(PoolEntity(id, qid or None, _underscored(title), text, created, revised), tokenizer)


def _row(row: tuple[Any, ...], date: str, averages: dict[int, float]) -> TemporalRow:
    (id, subset, _, category, mention, extracted, links, of_mention, inlinks, mentions, wiki, rank) = row[:12]
    (distance, longer, before, after, anchor_len, anchor_created, anchor_revised) = row[12:19]
    (qid, title, target_len, created, revised, target) = row[19:]
    return TemporalRow(
        subset=SUBSETS[subset],
        target_page_id=id,
        target_qid=qid or None,
        snapshot=date,
        target=target,
        target_len=target_len,
        target_title=_underscored(title),
        category=CATEGORIES[category],
        mention=mention,
        context_left=before,
        context_right=after,
        anchor_len=anchor_len,
        ed_men_title=distance / longer,
        overlap_type=overlap_category(mention, title),  # type: ignore[arg-type]
        men_prior=links / of_mention,
        men_prior_rank=rank,
        avg_men_prior=averages[id],
        ent_prior=inlinks / wiki,
        nr_inlinks=inlinks,
        nr_dist_mens=mentions,
        nr_mens_per_ent=links,
        nr_mens_extracted=extracted,
        anchor_creation_date=anchor_created,
        anchor_revision_date=anchor_revised,
        target_creation_date=created,
        target_revision_date=revised,
    )


def _underscored(title: str) -> str:
    return title.replace(" ", "_")


def _with_pieces(record: TemporalRow | PoolEntity, tokenizer: str | None) -> object:
    """The record as it is, or with the word pieces of its texts after its own fields, as `NAME_bert_tokenized`."""
    if tokenizer is None:
        return record
    tokens = Tokens(tokenizer)
    fields = msgspec.structs.asdict(record)
    texts = [name for name in ("context_left", "mention", "context_right", "target") if name in fields]
    return fields | {f"{name}_bert_tokenized": tokens.pieces(fields[name]) for name in texts}
