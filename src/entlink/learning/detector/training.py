"""A detector trained on texts with gold: nets by cross-validation, which also tells how well they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import msgspec

from entlink.encoders.loading import load_token_encoder
from entlink.errors import InputError
from entlink.io.checksums import fingerprint
from entlink.io.progress import Progress
from entlink.learning.detector.data import GoldText, SeenCounts, gold_texts
from entlink.learning.detector.span_nets import fit_net
from entlink.learning.fit.logistic import newton
from entlink.mentions.learned import likeliest
from entlink.mentions.span_model import CARD, Choice, DetectorCard, Net, SpanModel, write_model
from entlink.mentions.span_rows import SpanReader

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from entlink.documents import Document
    from entlink.encoders.text.transformer import TransformerEncoder
    from entlink.kb.knowledge_base import KnowledgeBase

    Floats = NDArray[numpy.float32]

FOLDS = 4
FEWEST_MENTIONS = 50
_ROWS_AT_ONCE = 4096
_MOST_ROWS = 150_000  # to train on; of more spans that are no mentions, some are drawn
_THRESHOLDS = tuple(round(0.02 * step, 2) for step in range(1, 50))


class DetectorReport(msgspec.Struct, frozen=True, kw_only=True):
    """How well a trained detector does on texts that each of its nets was not trained on."""

    folder: str
    texts: int
    mentions: int
    reachable: int
    threshold: float
    precision: float
    recall: float
    f1: float
    calibration_error: float
    choices: tuple[Choice, ...]


def check_folder(folder: Path, *, replace: bool) -> None:
    """Raise if something is there that is not to be replaced, or is no detector."""
    if not folder.exists():
        return
    if not (folder / CARD).is_file():
        raise InputError(f"{folder}: this is there already and is no trained detector. Give another folder")
    if not replace:
        raise InputError(f"{folder}: a detector is there already. Replace it with --replace, or give another folder")


class _Table(NamedTuple):
    """All rows: of which text each is, from where to where it stands there, and whether it is a mention."""

    rows: Floats
    right: NDArray[numpy.bool_]
    text: NDArray[numpy.int64]
    spans: list[tuple[int, int]]


def train_detector(
    kb: KnowledgeBase,
    documents: Iterable[Document],
    folder: str | Path,
    *,
    encoder: str | None = "minilm",
    seed: int = 0,
    replace: bool = False,
    progress: Progress = lambda stage, done, total: None,
    command: str = "",
    data: Callable[[], Sequence[dict[str, Any]]] = tuple,
) -> DetectorReport:
    """Train a detector and write it to a folder; `encoder` None leaves out what words mean where they stand.

    `data` is asked, after the documents were read, what to say of them in the card.
    """
    folder = Path(folder)
    check_folder(folder, replace=replace)
    texts = [one for one in gold_texts(documents) if one.text.strip()]
    mentions = sum(len(one.gold) for one in texts)
    if mentions < FEWEST_MENTIONS:
        raise InputError(
            f"the documents have {mentions} gold mentions in {len(texts)} texts, and {FEWEST_MENTIONS} are needed to "
            "learn which spans are mentions. Give more documents with gold, or use the detector dictionary"
        )
    folds = _folds(texts, seed)
    reads = load_token_encoder(encoder) if encoder else None
    card = _first_card(kb, texts, folds, encoder, reads)
    card = msgspec.structs.replace(card, mentions=mentions, command=command, data=list(data()))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder.parent) as file:  # beside it: elsewhere there may be no room on the disk
        table = _table(SpanReader(kb, reads), texts, card, file, progress)
        nets, logits = _cross_validated(table, folds, seed, progress)
    slope, shift = _calibrated(logits, table.right)
    chances = 1.0 / (1.0 + _exp(-(slope * logits + shift)))
    choices = _choices(table, chances, mentions)
    best = max(choices, key=lambda one: (one.f1, -abs(one.threshold - 0.5)))  # of equals, the one in the middle
    card = msgspec.structs.replace(card, threshold=best.threshold, choices=choices, slope=slope, shift=shift)
    write_model(folder, SpanModel(card, nets))
    return DetectorReport(
        folder=str(folder),
        texts=len(texts),
        mentions=mentions,
        reachable=int(table.right.sum()),
        threshold=best.threshold,
        precision=best.precision,
        recall=best.recall,
        f1=best.f1,
        calibration_error=_calibration_error(chances, table.right),
        choices=choices,
    )


def _first_card(
    kb: KnowledgeBase,
    texts: Sequence[GoldText],
    folds: NDArray[numpy.int64],
    encoder: str | None,
    reads: TransformerEncoder | None,
) -> DetectorCard:
    """What is known before training: what was seen of names, and which documents are held out together."""
    from entlink.text.dates import now
    from entlink.version import __version__

    counts = SeenCounts(kb, texts)
    return DetectorCard(
        encoder=encoder,
        identity=reads.identity if reads is not None else "",
        seen=counts.all,
        own=counts.own,
        folds={one.document: int(fold) for one, fold in zip(texts, folds, strict=True)},
        learnt={fingerprint(one.text): one.document for one in texts},
        texts=len(texts),
        entlink=__version__,
        made=now(),
    )


def _folds(texts: Sequence[GoldText], seed: int) -> NDArray[numpy.int64]:
    """A fold for each text; all of a document are in one."""
    import numpy

    documents = list(dict.fromkeys(one.document for one in texts))
    if len(documents) < FOLDS:
        raise InputError(
            f"the gold is in {len(documents)} documents, and {FOLDS} are needed, so that some can be held out. "
            "Give more, or cut long ones into several"
        )
    order = numpy.random.default_rng(seed).permutation(len(documents))
    fold = {documents[place]: number % FOLDS for number, place in enumerate(order.tolist())}
    return numpy.array([fold[one.document] for one in texts])


def _table(
    reader: SpanReader, texts: Sequence[GoldText], card: DetectorCard, file: IO[bytes], progress: Progress
) -> _Table:
    """All rows, in a file that is mapped: they are many times larger than their texts."""
    import numpy

    right, owner, spans = [], [], []
    width = 0
    read = reader.read([one.text for one in texts], [card.seen_elsewhere(one.document) for one in texts])
    for number, (one, rows) in enumerate(zip(texts, read, strict=True)):
        progress("reading texts", number, len(texts))
        if one.optional:
            rows = rows._replace(spans=[span for span in rows.spans if (span.start, span.end) not in one.optional])
        for part in rows.parts():
            width = part.shape[1]
            file.write(part.tobytes())
        own = [(span.start, span.end) for span in rows.spans]
        spans += own
        right += [span in one.gold for span in own]
        owner += [number] * len(own)
    if not any(right):
        raise InputError("no gold mention is a run of up to four words or a name of the knowledge base")
    file.flush()
    values = numpy.memmap(file, numpy.float32, "r", shape=(len(spans), width))
    return _Table(values, numpy.array(right), numpy.array(owner), spans)


def _cross_validated(
    table: _Table, folds: NDArray[numpy.int64], seed: int, progress: Progress
) -> tuple[list[Net], Floats]:
    """A net for each fold, trained without it, and what it says of the rows of that fold."""
    import numpy

    fold = folds[table.text]
    logits = numpy.zeros(len(table.right), numpy.float32)
    nets = []
    for number in range(FOLDS):
        chosen = _drawn(table, fold != number, seed + number)
        if not table.right[chosen].any():
            raise InputError("all gold mentions are in few documents: give more documents that have some")

        def told(share: float, number: int = number) -> None:
            progress("training", number + share, FOLDS)

        net = fit_net(numpy.asarray(table.rows[chosen]), table.right[chosen], seed + number, told)
        held_out = numpy.flatnonzero(fold == number)
        for start in range(0, len(held_out), _ROWS_AT_ONCE):
            part = held_out[start : start + _ROWS_AT_ONCE]
            logits[part] = net.logits(table.rows[part])
        nets.append(net)
    return nets, logits


def _drawn(table: _Table, wanted: NDArray[numpy.bool_], seed: int) -> NDArray[numpy.int64]:
    """The rows to train on, at most so many; of mentions, as many as make up half of them."""
    import numpy

    random = numpy.random.default_rng(seed)
    right, others = numpy.flatnonzero(wanted & table.right), numpy.flatnonzero(wanted & ~table.right)
    if len(right) > _MOST_ROWS // 2:
        right = random.choice(right, _MOST_ROWS // 2, replace=False)
    room = _MOST_ROWS - len(right)
    if len(others) > room:
        others = random.choice(others, room, replace=False)
    found: NDArray[numpy.int64] = numpy.sort(numpy.concatenate((right, others)))
    return found


def _calibrated(logits: Floats, right: NDArray[numpy.bool_]) -> tuple[float, float]:
    """The slope and the shift that make the logits' chances true, drawn a little to 1 and 0."""
    import numpy

    rows = numpy.stack((logits.astype(numpy.float64), numpy.ones(len(logits))), axis=1)
    slope, shift = newton(rows, right, numpy.full(2, 1e-3), origin=numpy.array((1.0, 0.0)))
    return round(max(float(slope), 1e-3), 6), round(float(shift), 6)


def _choices(table: _Table, chances: Floats, mentions: int) -> tuple[Choice, ...]:
    """What each threshold gives, with overlaps resolved.

    A span that a likelier one leaves out is left out at each threshold, so that they are resolved once.
    """
    import numpy

    by_text: dict[int, list[tuple[int, int, float]]] = {}
    for row in numpy.flatnonzero(chances >= _THRESHOLDS[0]).tolist():
        by_text.setdefault(int(table.text[row]), []).append((*table.spans[row], float(chances[row])))
    gold = {(int(table.text[row]), *table.spans[row]) for row in numpy.flatnonzero(table.right)}
    taken = [(text, *span) for text, spans in by_text.items() for span in likeliest(spans)]
    scores = numpy.array([score for _, _, _, score in taken])
    is_right = numpy.array([(text, start, end) in gold for text, start, end, _ in taken], bool)
    found = []
    for threshold in _THRESHOLDS:
        count, right = int((scores >= threshold).sum()), int(is_right[scores >= threshold].sum())
        f1 = 2 * right / (count + mentions)
        found.append(Choice(threshold, right / count if count else 1.0, right / mentions, f1))
    return tuple(found)


def _calibration_error(chances: Floats, right: NDArray[numpy.bool_]) -> float:
    """How far, on average, the chances of ten parts of equal width are from the share of mentions in them."""
    import numpy

    bins = numpy.minimum((chances * 10).astype(int), 9)
    gaps = (abs(float(chances[bins == one].mean() - right[bins == one].mean())) for one in set(bins.tolist()))
    sizes = (int((bins == one).sum()) for one in set(bins.tolist()))
    return sum(size * gap for size, gap in zip(sizes, gaps, strict=True)) / len(chances)


def _exp(values: Any) -> Any:
    import numpy

    return numpy.exp(numpy.clip(values, -60.0, 60.0))
