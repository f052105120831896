"""Captions of Schools Wikipedia with their pictures: which entity is meant, by text and by text with the picture.

    entlink kb build ../shared/data/schools_wikipedia/articles.jsonl.xz -o schools.kb
    entlink kb index schools.kb --words --vectors minilm --entity-vectors \
        --pictures efficientnet-lite0 --picture-folder PICTURES
    python reproductions/schools_captions.py schools.kb CAPTIONS --part evidence

`CAPTIONS` is the folder that `entlink datasets build captions` writes, `PICTURES` the pictures of `images.tar`.

Spans are given. Mentions whose entity's picture is that of the caption or nearly so (cosine above .7) are left out.
Each mention has ten candidates, the same for all rows. What the evidence weighs is fitted to nine tenths of the pages
and measured on the last tenth, ten times: every mention counts once. `p` is of a paired permutation test over
captions. `--part masked` hides the name of each mention from retrieval and evidence.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import numpy

from entlink.documents import Candidate, Document, Mention, Span
from entlink.evaluation.files import File
from entlink.evaluation.intervals.resampling import Difference, differences
from entlink.evaluation.scoring.counts import Counts
from entlink.evaluation.scoring.tally import Column
from entlink.evidence.context import ContextEvidence
from entlink.evidence.pictures import PicturesEvidence
from entlink.evidence.similarity import SimilarityEvidence
from entlink.formats.documents.lines import encode_document
from entlink.interfaces import Evidence, Question, Shortlist
from entlink.kb.indexes.vectors.pictures import PictureCosines
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.fit.tables import EvidenceTable, evidence_table
from entlink.learning.fit.weights import fit_weights
from entlink.linking.config import LinkerConfig, Stage, read_config, with_encoder
from entlink.linking.linker import Linker, load
from entlink.ranking.combination import CombinationRanker
from entlink.studies.candidates.results import CandidateOptions
from entlink.studies.candidates.study import study_candidates
from entlink.studies.candidates.tables import candidate_tables
from entlink.text.folding import key_of
from entlink.text.titles import without_parenthesis
from entlink_cli.study.output import shown

FOLDS, KEEP, NEAR_COPY, OWN, DRAWS = 10, 10, 0.7, 0.99, 5
PAGE_READ = 1_500  # characters of the page that a caption is on
WIDTH, PULL = 2.0, 0.5  # of the map from pictures to entities: how near pictures count, how smooth it is
HIDDEN = "something"  # what is written where a name is hidden

NAMES: Stage = {"name": "names", "limit": 30}
DENSE: Stage = {"name": "dense", "encoder": "minilm", "limit": 30}
STATIC: Stage = {"name": "entity-vectors", "limit": 30}
HIDDEN_DENSE: Stage = {**DENSE, "context": 50.0}  # the word in place of the name says nothing
HIDDEN_STATIC: Stage = {**STATIC, "surface": 0.0}
SHARES = {"names": 0.4, "dense": 0.4, "entity-vectors": 0.2}
TEXT = (
    "dense", "entity-vectors", "similarity", "context", "others_context", "spelling", "initials", "is_title",
    "is_bare_title",
)  # fmt: skip
PRIOR = ("alias", "popularity", "shortened", "inflected", "tier")
PAGE = ("page context", "page similarity", "page entity-vectors")
PICTURE, ALIKE = ("pictures", "pictured"), "alike"
ENSEMBLES = (("names", "dense", "pictures"), ("dense", "pictures"))
LINKED = "linked on average"  # the candidate beside what captions link to, whatever the picture
LEARNT = "linked beside such pictures"
AROUND = ("dense", "entity-vectors", "similarity", "context")  # where names are hidden


class Asked(NamedTuple):
    """A mention, the entity that is right, and what is known of both."""

    document: Document
    mention: Mention
    right: str
    page: str
    is_title: bool
    is_ambiguous: bool
    cosine: float  # of the caption's picture and the entity's


def say(*parts: str) -> None:
    sys.stdout.write(" ".join(parts).rstrip() + "\n")
    sys.stdout.flush()


def captions(folder: Path, splits: Sequence[str] = ("train", "dev", "test")) -> Iterator[Document]:
    """The captioned pictures of a dataset."""
    for split in splits:
        yield from File(folder / f"{split}.jsonl", "gold")


def is_titled(surface: str, title: str) -> bool:
    """Whether a name is the title, in any case, or the title without its parenthesis."""
    return key_of(surface) in (key_of(title), key_of(without_parenthesis(title) or title))


def asked_of(kb: KnowledgeBase, documents: Sequence[Document]) -> list[Asked]:
    """The mentions with gold that the knowledge base has; of each document together."""
    found = []
    for document in documents:
        for gold in document.gold:
            entity = kb.resolve(gold.entities[0]) if gold.entities else None
            if entity is None:
                continue
            mention = Mention(gold.span, document.text[gold.span.start : gold.span.end])
            is_ambiguous = len(kb.meaning(mention.text).entries) > 1
            is_title = is_titled(mention.text, entity.title)
            page = str(document.meta["page"])
            found.append(Asked(document, mention, entity.id, page, is_title, is_ambiguous, 0.0))
    pictures = PicturesEvidence(kb)
    numbers_of = pictures.gather([Shortlist(one.document, one.mention, [Candidate(one.right, 0.0)]) for one in found])
    return [
        one._replace(cosine=numbers[0].get("pictures", 0.0)) for one, numbers in zip(found, numbers_of, strict=True)
    ]


def shortlists_of(linker: Linker, asked: Sequence[Asked]) -> list[Shortlist]:
    """The candidates of each mention, with what retrievers and evidence say of them."""
    questions = [
        Question(document, [one.mention for one in group])
        for document, group in ((own[0].document, own) for own in _together(asked))
    ]
    found: list[Shortlist] = []
    for start in range(0, len(questions), 64):
        batch = questions[start : start + 64]
        lists = [
            Shortlist(question.document, mention, candidates)
            for question, own in zip(batch, linker.retrieve(batch), strict=True)
            for mention, candidates in zip(question.mentions, own, strict=True)
        ]
        found += [Shortlist(one[0], one[1], best) for one, best in zip(lists, linker.rank(lists), strict=True)]
    return found


def _together(asked: Sequence[Asked]) -> Iterator[list[Asked]]:
    for _, group in groupby(asked, key=lambda one: id(one.document)):
        yield list(group)


def with_evidence(shortlists: Sequence[Shortlist], stage: Evidence, prefix: str = "") -> list[Shortlist]:
    """The shortlists with the numbers of one more kind of evidence."""
    return [
        Shortlist(
            one.document,
            one.mention,
            [
                Candidate(
                    candidate.entity,
                    candidate.score,
                    {**candidate.evidence, **{f"{prefix}{name}": value for name, value in numbers.items()}},
                    candidate.title,
                )
                for candidate, numbers in zip(one.candidates, own, strict=True)
            ],
        )
        for one, own in zip(shortlists, stage.gather(shortlists), strict=True)
    ]


def on_page(kb: KnowledgeBase, shortlists: Sequence[Shortlist]) -> list[Shortlist]:
    """The shortlists with what the page's own text says, read as if it came after the caption."""
    made: dict[int, Document] = {}
    for one in shortlists:
        if id(one.document) not in made:
            page = kb.get(str(one.document.meta["page"]))
            opening = (page.description or "")[:PAGE_READ] if page else ""
            text = f"{one.document.text} {opening}"
            made[id(one.document)] = msgspec.structs.replace(one.document, text=text)
    there = [Shortlist(made[id(one.document)], one.mention, one.candidates) for one in shortlists]
    from entlink.candidates.entity_vectors import EntityVectorsRetriever

    static = EntityVectorsRetriever(kb, surface=0.0, reach=PAGE_READ)
    stages: list[Evidence] = [ContextEvidence(kb), SimilarityEvidence(kb, encoder="minilm", read=KEEP), static]
    for stage in stages:
        there = with_evidence(there, stage, "page ")
    return [Shortlist(one.document, one.mention, own.candidates) for one, own in zip(shortlists, there, strict=True)]


def with_pictures_of_others(asked: Sequence[Asked], seed: int) -> list[Document]:
    """The document of each mention with the picture of another caption, of another page."""
    chosen = Random(seed)
    pictured = [one.document for one in asked if one.document.images]
    made: dict[int, Document] = {}
    for one in asked:
        while id(one.document) not in made:
            other = chosen.choice(pictured)
            if other.meta["page"] != one.page:
                made[id(one.document)] = msgspec.structs.replace(one.document, images=other.images)
    return [made[id(one.document)] for one in asked]


def folds_of(asked: Sequence[Asked]) -> Any:
    """Which tenth the page of each mention is in."""
    return numpy.array([int(hashlib.sha256(one.page.encode()).hexdigest(), 16) % FOLDS for one in asked])


def cross_fitted(
    table: EvidenceTable, folds: Any, features: Sequence[str], tested: EvidenceTable | None = None
) -> Any:
    """Whether each mention is right, by weights fitted to the other folds; `tested` is what they are used on."""
    right = numpy.zeros(len(folds), bool)
    columns = [table.features.index(name) for name in features]
    own, other = _columns(table, columns), _columns(tested or table, columns)
    for fold in range(FOLDS):
        weights = fit_weights(_rows(own, folds != fold), [0.0] * len(columns))
        right[folds == fold] = _rows(other, folds == fold).ranks(weights) == 0
    return right


def _columns(table: EvidenceTable, columns: Sequence[int]) -> EvidenceTable:
    names = tuple(table.features[column] for column in columns)
    return EvidenceTable(names, table.values[:, :, columns], table.present, table.right)


def _rows(table: EvidenceTable, mask: Any) -> EvidenceTable:
    return EvidenceTable(table.features, table.values[mask], table.present[mask], table.right[mask])


def compared(asked: Sequence[Asked], a: Any, b: Any) -> Difference:
    """How much more often B is right than A, with its interval and p, over captions."""
    columns = Column(), Column()
    places = iter(range(len(asked)))
    for group in _together(asked):
        own = [next(places) for _ in group]
        for column, right in zip(columns, (a, b), strict=True):
            column.add(Counts(int(right[own].sum()), len(own), len(own)))
    return differences(*columns)[-1]


class Run:
    """The mentions of a part with their evidence, and a table of what comes out."""

    def __init__(self, kb: KnowledgeBase, asked: Sequence[Asked], shortlists: list[Shortlist]) -> None:
        self.asked, self.folds = asked, folds_of(asked)
        self._pictures, self._cosines, self._kb = PicturesEvidence(kb), PictureCosines(kb), kb
        self.shortlists = shortlists
        self.parts = {
            "all": numpy.ones(len(asked), bool),
            "not the title": numpy.array([not one.is_title for one in asked]),
            "ambiguous": numpy.array([one.is_ambiguous for one in asked]),
        }

    def table(self, features: Sequence[str], documents: Sequence[Document] | None = None) -> EvidenceTable:
        """All evidence; with `documents`, the pictures are those of these."""
        asked = self.shortlists
        if documents is not None:
            asked = [Shortlist(document, one[1], one[2]) for document, one in zip(documents, asked, strict=True)]
        found = with_evidence(asked, self._pictures)
        return evidence_table(
            [one.candidates for one in found], [frozenset((one.right,)) for one in self.asked], features
        )

    def random_tables(self, features: Sequence[str]) -> list[EvidenceTable]:
        return [self.table(features, with_pictures_of_others(self.asked, seed)) for seed in range(DRAWS)]

    def print_parts(self, name: str, right: Any, note: str = "") -> None:
        shares = [f"{right[mask].mean():.4f}" for mask in self.parts.values()]
        say(f"{name:48}", *(f"{share:>18}" for share in shares), note)

    def head(self) -> None:
        say(f"{'':48}", *(f"{f'{name} {int(mask.sum()):,}':>18}" for name, mask in self.parts.items()))

    def learnt_rows(self, base: str, features: Sequence[str], *, without_copies: bool) -> None:
        """What captions of the other folds link to beside such pictures, and beside random ones."""
        wanted = (*features, LINKED, LEARNT)
        shuffled = with_pictures_of_others(self.asked, 0)
        real, others = self._vectors_of(None), self._vectors_of(shuffled)
        table, random, swapped = (
            self._learnt(wanted, fitted, tested, without_copies)
            for fitted, tested in ((real, real), (others, others), (real, others))
        )
        text = cross_fitted(table, self.folds, (*features, LINKED))
        found = cross_fitted(table, self.folds, wanted)
        beside = cross_fitted(random, self.folds, wanted)
        self.print_parts(f"{base} + {LINKED}", text)
        self.print_parts(f"  + {LEARNT}", found, _told(compared(self.asked, text, found)))
        note = "against it: picture " + _told(compared(self.asked, beside, found))
        self.print_parts("  + the same of random pictures", beside, note)
        replaced = cross_fitted(table, self.folds, wanted, swapped)
        note = f"each picture replaced: {replaced.mean() - text.mean():+.4f} against {LINKED}"
        self.print_parts("  + picture, replaced at the end", replaced, note)

    def _vectors_of(self, documents: Sequence[Document] | None) -> Any:
        """The vector of each mention's picture, less their mean; zeros without one."""
        given = [one.document for one in self.asked] if documents is None else documents
        found = self._cosines.documents(given)
        none = numpy.zeros(self._cosines.dual.dimension, numpy.float32)
        return numpy.stack([found.get(id(document), none) for document in given])

    def _learnt(self, features: Sequence[str], fitted: Any, tested: Any, without_copies: bool) -> EvidenceTable:
        """The evidence with what was learnt of the other folds: a smooth map from pictures to entities linked."""
        vectors = self._kb.entity_vectors()
        gold = vectors.of([one.right for one in self.asked])
        mean = numpy.zeros_like(gold)
        like = numpy.zeros_like(gold)
        for fold in range(FOLDS):
            own = self.folds == fold
            others = ~own & fitted.any(axis=1)
            if without_copies:
                others &= (fitted @ tested[own].T).max(axis=1) <= NEAR_COPY
            seen, linked = _centred(fitted, fitted[others]), gold[others]
            mean[own] = linked.mean(axis=0)
            nearness = numpy.exp(WIDTH * (seen[others] @ seen[others].T - 1)) + PULL * numpy.eye(int(others.sum()))
            shares = numpy.linalg.solve(nearness, linked - linked.mean(axis=0))
            asked = _centred(tested[own], fitted[others])
            like[own] = numpy.exp(WIDTH * (asked @ seen[others].T - 1)) @ shares
        lists = []
        for one, average, near in zip(self.shortlists, mean, like, strict=True):
            entities = vectors.of([candidate.entity for candidate in one.candidates])
            lists.append(
                [
                    Candidate(
                        own.entity, 0.0, {**own.evidence, LINKED: float(row @ average), LEARNT: float(row @ near)}
                    )
                    for own, row in zip(one.candidates, entities, strict=True)
                ]
            )
        return evidence_table(lists, [frozenset((one.right,)) for one in self.asked], features)

    def picture_rows(self, base: str, features: Sequence[str], is_right: Any) -> None:
        """With the picture, with random ones that were also fitted to, and with random ones at the end alone."""
        wanted = (*features, *PICTURE)
        table, others = self.table(wanted), self.random_tables(wanted)
        with_picture = cross_fitted(table, self.folds, wanted)
        fitted = [cross_fitted(other, self.folds, wanted) for other in others]
        swapped = [cross_fitted(table, self.folds, wanted, other) for other in others]
        self.print_parts(f"{base} + picture", with_picture, _told(compared(self.asked, is_right, with_picture)))
        note = "against it: picture " + _told(compared(self.asked, fitted[0], with_picture))
        self.print_parts(f"{base} + random pictures ({DRAWS} draws)", numpy.mean(fitted, axis=0), note)
        note = f"each picture replaced: {numpy.mean(swapped) - is_right.mean():+.4f} against {base} alone"
        self.print_parts(f"{base} + picture, replaced at the end", numpy.mean(swapped, axis=0), note)


def _centred(vectors: Any, among: Any) -> Any:
    """The vectors less the mean of some, at length 1; zeros stay."""
    moved = (vectors - among.mean(axis=0)) * vectors.any(axis=1, keepdims=True)
    lengths = numpy.linalg.norm(moved, axis=1, keepdims=True)
    return moved / numpy.where(lengths > 0, lengths, 1)


def _told(one: Difference) -> str:
    return f"{one.difference:+.4f} [{one.interval.low:+.4f}, {one.interval.high:+.4f}] p {one.p:.4f}"


def evidence(path: Path, asked: list[Asked], folder: Path) -> None:
    """Disambiguation with the names as they are."""
    stages: list[Stage] = [
        {"name": "context"}, {"name": "similarity", "encoder": "minilm", "read": KEEP}, {"name": "popularity"},
        {"name": "spelling"},
    ]  # fmt: skip
    linker = _linker(path, [NAMES, DENSE, STATIC], SHARES, stages)
    run = Run(linker.kb, asked, on_page(linker.kb, shortlists_of(linker, asked)))
    run.head()
    everything = (*TEXT, *PRIOR, *PAGE)
    table = run.table(everything)
    run.print_parts(f"R@{KEEP} of the candidates", table.reached)
    for name, features in (
        ("text", TEXT),
        ("text + page", (*TEXT, *PAGE)),
        ("text + prior", (*TEXT, *PRIOR)),
        ("text + prior + page", everything),
    ):
        right = cross_fitted(table, run.folds, features)
        run.print_parts(name, right)
        if name in ("text", "text + prior + page"):
            run.picture_rows(name, features, right)
    say("weights of pictures beside text and prior, fitted to all:", str(_weights(run, (*TEXT, *PRIOR, *PICTURE))))


def _weights(run: Run, features: Sequence[str]) -> dict[str, float]:
    table = run.table(features)
    found = dict(zip(features, fit_weights(table, [0.0] * len(features)), strict=True))
    return {name: round(found[name], 2) for name in PICTURE}


def masked(path: Path, asked: list[Asked], folder: Path) -> None:
    """Disambiguation by the caption around a name that is hidden."""
    hidden = [_hidden(one) for one in asked]
    stages: list[Stage] = [{"name": "context"}, {"name": "similarity", "encoder": "minilm", "read": KEEP}]
    shares = {"dense": 0.4, "entity-vectors": 0.3, "pictures": 0.3}
    around = _linker(path, [HIDDEN_DENSE, HIDDEN_STATIC, {"name": "pictures"}], shares, stages)
    named = _linker(path, [NAMES, DENSE, STATIC], SHARES, [])
    of_names = shortlists_of(named, asked)
    say("the candidates that the name has, the name hidden from the evidence")
    there = [
        Shortlist(one.document, one.mention, [Candidate(own.entity, 0.0, {}, own.title) for own in known.candidates])
        for one, known in zip(hidden, of_names, strict=True)
    ]
    for stage in (*around.retrievers[:2], *around.evidence):
        if isinstance(stage, Evidence):  # a retriever may be evidence, too
            there = with_evidence(there, stage)
    run = Run(around.kb, hidden, there)
    _masked_rows(run)
    say("with what captions of other pages link to")
    run.learnt_rows("text", AROUND, without_copies=False)
    say("the same, learnt without pictures that are nearly one of those asked for")
    run.learnt_rows("text", AROUND, without_copies=True)
    say("candidates by the caption around it and by the picture")
    _masked_rows(Run(around.kb, hidden, shortlists_of(around, hidden)))


def _masked_rows(run: Run) -> None:
    run.head()
    table = run.table(AROUND)
    run.print_parts(f"R@{KEEP} of the candidates", table.reached)
    right = cross_fitted(table, run.folds, AROUND)
    run.print_parts("text", right)
    run.picture_rows("text", AROUND, right)


def _hidden(one: Asked) -> Asked:
    """The mention with its name hidden, and every other place where the caption has that name."""
    text, span = one.document.text, one.mention.span
    name = re.compile(re.escape(one.mention.text), re.IGNORECASE)
    before, after = name.sub(HIDDEN, text[: span.start]), name.sub(HIDDEN, text[span.end :])
    document = msgspec.structs.replace(one.document, text=f"{before}{HIDDEN}{after}", gold=(), mentions=None)
    return one._replace(document=document, mention=Mention(Span(len(before), len(before) + len(HIDDEN)), HIDDEN))


def _linker(path: Path, retrievers: list[Stage], shares: dict[str, float], stages: list[Stage]) -> Linker:
    config = LinkerConfig(
        retriever=retrievers,
        fusion={"name": "quotas", "keep": KEEP, "shares": shares},
        evidence=stages,
        ranker={"name": "combination"},
    )
    return load(path, config=config, mentions="given")


def retrieval(path: Path, asked: list[Asked], folder: Path) -> None:
    """Table 4: each retriever, and ensembles that were chosen on the development pages."""
    kept = {(one.document.id, one.mention.span.start) for one in asked}
    stages: list[Stage] = [
        {"name": "names"},
        {"name": "bm25"},
        {"name": "entity-vectors"},
        {"name": "dense", "encoder": "minilm"},
        {"name": "pictures"},
    ]
    config = LinkerConfig(retriever=stages, fusion={"name": "weights", "weights": {"names": 1.0, "dense": 1.0}})
    options = CandidateOptions(slices=("title",), deep=True, published=True)
    with tempfile.TemporaryDirectory() as work:
        dev, data = Path(work) / "dev.jsonl", Path(work) / "rest.jsonl"
        _write_kept(dev, captions(folder, ("dev",)), kept)
        _write_kept(data, captions(folder, ("train", "test")), kept)
        options = CandidateOptions(slices=("title",), deep=True, published=True, dev=(str(dev),), ensembles=ENSEMBLES)
        study = study_candidates(path, [data], config, options)
    say(*(f"{line}\n" for line in (*shown(candidate_tables(study)), *study.notes)))


def _write_kept(path: Path, documents: Iterator[Document], kept: set[tuple[str, int]]) -> None:
    """The documents with the gold that is not left out."""
    with path.open("wb") as file:
        for document in documents:
            gold = tuple(one for one in document.gold if (document.id, one.span.start) in kept)
            file.write(encode_document(msgspec.structs.replace(document, gold=gold)) + b"\n")


def presets(path: Path, asked: list[Asked], folder: Path) -> None:
    """What pictures that are alike weigh in the linkers in the box: fitted to nine tenths, measured on the last."""
    run = Run(KnowledgeBase.open(path), asked, [])
    fold = run.folds == 0
    for name in ("everyday", "everyday-encoder", "zero-shot", "characters", "characters-encoder"):
        config = with_encoder(read_config(name), "minilm")
        linker = load(path, config=config, mentions="given")
        assert isinstance(linker.ranker, CombinationRanker)
        weights = {own: weight for own, weight in linker.ranker.weights.items() if weight and own != ALIKE}
        run.shortlists = shortlists_of(linker, asked)
        table, others = run.table((*weights, ALIKE)), run.random_tables((*weights, ALIKE))
        start = [*weights.values(), 0.0]
        fitted = fit_weights(_rows(table, ~fold), start, fixed=[True] * len(weights) + [False], pull=0.0)
        now = [*weights.values(), linker.ranker.weights[ALIKE]]
        for what, mask in (("last tenth", fold), ("all", fold | True)):
            without, with_picture = (_rows(table, mask).ranks(one) == 0 for one in (start, now))
            random = [float((_rows(other, mask).ranks(now) == 0).mean()) for other in others]
            say(
                f"{name:20} {what:12} without {without.mean():.4f}, with {now[-1]:g} {with_picture.mean():.4f}, "
                f"with random pictures {numpy.mean(random):.4f}; fitted {fitted[-1]:.2f}"
            )
        linker.kb.close()


PARTS: dict[str, Callable[[Path, list[Asked], Path], None]] = {
    "retrieval": retrieval,
    "evidence": evidence,
    "masked": masked,
    "presets": presets,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("captions", type=Path)
    parser.add_argument("--part", choices=PARTS, action="append", default=[])
    given = parser.parse_args()
    with KnowledgeBase.open(given.kb) as kb:
        every = asked_of(kb, list(captions(given.captions)))
        asked = [one for one in every if one.cosine <= NEAR_COPY]
        say(f"{len(every):,} mentions, {len(every) - len(asked)} left out: the entity's picture is nearly the same")
    for part in given.part or PARTS:
        say(f"\n{part}")
        # What is alike is learnt of near-copies, too, but not of the caption's own picture.
        wanted = [one for one in every if one.cosine <= OWN] if part == "presets" else asked
        PARTS[part](given.kb, wanted, given.captions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
