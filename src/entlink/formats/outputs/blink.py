"""What BLINK predicts: the rows it was given, each with the titles and scores that `main_dense.run` gave for it.

BLINK itself writes no file. `run` returns the lists `predictions` and `scores`, side by side with the rows of
`test_data`; whoever keeps them puts them into the rows:

    {"id": 0, "context_left": "…", "mention": "paris", "context_right": "…", "predictions": ["Paris", "Paris, Texas"], "scores": [8.1, 2.4]}
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from entlink.documents import Candidate, Document, Link, Mention
from entlink.formats.foreign import id_of, read_items, rows_of
from entlink.formats.public.blink import CONTEXTS, BlinkRow, text_and_span
from entlink.io.inputs import Input, OnProblem
from entlink.io.ledger import OnError
from entlink.text.spans import Place


class PredictedRow(BlinkRow, kw_only=True):
    """A row of BLINK with its candidates, best first."""

    predictions: list[str]
    scores: list[float]


_decoder = msgspec.json.Decoder(PredictedRow)


def read(source: Input, *, on_error: OnError = "stop", on_problem: OnProblem | None = None) -> Iterator[Document]:
    """A document a row, with one link; labels are not read."""
    return read_items(source, _decoder, _document, on_error, on_problem)


def looks_like(path: Path, head: bytes) -> bool:
    """Rows of BLINK with predictions."""
    return any("predictions" in row and all(key in row for key in CONTEXTS) for row in rows_of(head)[:1])


def _document(row: PredictedRow, place: Place) -> Document:
    text, span = text_and_span(row, place)
    if len(row.scores) != len(row.predictions):
        problem = f"field scores has {len(row.scores)} values for {len(row.predictions)} predictions"
        raise place.error(problem, "Give one for each prediction")
    ranked = sorted(zip(row.scores, row.predictions, strict=True), key=lambda pair: -pair[0])
    candidates = tuple(Candidate(title, score, title=title) for score, title in ranked)
    mention = Mention(span, row.mention)
    if candidates:
        best = candidates[0]
        link = Link(mention, best.entity, best.score, title=best.title, candidates=candidates)
    else:
        link = Link(mention, None, 1.0)
    return Document(id_of(row.query_id if row.id is None else row.id, place), text, links=(link,))
