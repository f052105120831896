"""Linking captioned pictures: what the text, the picture and P(e|m) are worth, over one fixed set of candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import msgspec

from entlink.documents import Document, GoldLink, Record
from entlink.errors import ConfigError, InputError
from entlink.formats.documents.lines import encode_document
from entlink.io.atomic import write_lock, write_whole
from entlink.io.progress import Progress, ignore_progress
from entlink.io.resuming import file_stamps
from entlink.kb.indexes.derived import derived_indexes
from entlink.kb.indexes.vectors.pictures import pictures_of_entities
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.linker import load
from entlink.studies.candidates.results import CandidateOptions, CandidateStudy
from entlink.studies.candidates.study import study_candidates
from entlink.studies.conversations.runs import RunSource
from entlink.studies.data import NOT_THERE, Facts, check_kb, published_figures
from entlink.studies.pictures.analyses import ALL, Analyses
from entlink.studies.pictures.answers import Answers
from entlink.studies.pictures.cases import Answered, CaseWriter
from entlink.studies.pictures.material import Material, Stages, Whole, has_pictures, reached
from entlink.studies.pictures.rankers import evidence_specs
from entlink.studies.pictures.results import (
    PARTS,
    SPLITS,
    Case,
    PictureOptions,
    PictureStudy,
    RankerScores,
    SplitFacts,
)
from entlink.studies.pictures.runs import read_run
from entlink.studies.pictures.scoring import scores_of
from entlink.studies.pictures.sets import Asked, CaptionSet
from entlink.studies.place import LOCK, Place, take_place
from entlink.studies.settings import available, config_for, deepened, encoder_identities, names_of

_PAPER, _TABLES = "wikidiverse", ("4", "5", "6", "7", "8", "9", "text")
_KS = (10, 50, 100)
_MARKS = frozenset(("captions", "near_copy"))


class _Likeness(Record, frozen=True):
    """The cosine of each caption's picture with that of the right entity, where both have one."""

    cosines: list[float | None]


def study_pictures(
    kb: str | Path,
    data: Sequence[str | Path],
    out: str | Path,
    config: LinkerConfig | str | Path | None = None,
    runs: Sequence[RunSource] = (),
    options: PictureOptions | None = None,
    *,
    replace: bool = False,
    command: str = "",
    progress: Progress = ignore_progress,
) -> PictureStudy:
    """Tables 4 to 9 of WikiDiverse and its figures, for any captions with gold.

    `data` is a folder with files train, dev and test, or files of captions, which are split 8:1:1 by page. `config`
    is the retrieval that gives every mention its candidates. What was done is kept in the folder `out`: the same call
    goes on where an interrupted one stopped.
    """
    options, folder = options or PictureOptions(), Path(out)
    _check(options)
    start = perf_counter()
    if not isinstance(config, LinkerConfig):
        config = config_for(kb) if config is None else read_config(config)
    config = deepened(config, options.k)
    with ExitStack() as stack:
        base = stack.enter_context(KnowledgeBase.open(kb))
        check_kb(base)
        captions = CaptionSet(data, base, options)
        stack.enter_context(write_lock(folder))
        stack.callback(lambda: (folder / LOCK).unlink(missing_ok=True))
        place = take_place(folder, _plan(base, captions, config, options), _MARKS, replace=replace)
        ready, missing = available(config, base)
        run = _Run(place, base, captions, ready, options, stack, progress)
        run.notes += [f"candidates without {name}: {why}" for name, why in missing.items()]
        return run.study(list(data), runs, command, start)


def _check(options: PictureOptions) -> None:
    unknown = [name for name in options.only if name not in PARTS]
    if unknown:
        raise ConfigError(f"there is no part {unknown[0]!r} of this study. There are {', '.join(PARTS)}")
    for name, value in (("k", options.k), ("seeds", options.seeds), ("folds", options.folds)):
        if value < 1:
            raise ConfigError(f"{name} = {value} does not fit: it is 1 or more")


def _plan(
    kb: KnowledgeBase, captions: CaptionSet, config: LinkerConfig, options: PictureOptions
) -> dict[str, object]:
    """What a study must have in common with one that it goes on with."""
    from entlink.studies.pictures.models import training_of

    files = [file.path for data in captions.data for file in data.files]
    return {
        "captions": file_stamps(files),
        "kb": [kb.folder.name, kb.manifest().built, kb.revision],
        "indexes": [[one.name, one.card.settings] for one in derived_indexes(kb.index_folder)],
        "match_gold": options.match_gold,
        "config": msgspec.to_builtins(config),
        "k": options.k,
        "near_copy": options.near_copy,
        "seed": options.seed,
        "limit": options.limit,
        "training": training_of(options) if options.models else None,
        "minutes": options.minutes,
    }


class _Run:
    """A study under way."""

    def __init__(
        self,
        place: Place,
        kb: KnowledgeBase,
        captions: CaptionSet,
        config: LinkerConfig,
        options: PictureOptions,
        stack: ExitStack,
        progress: Progress,
    ) -> None:
        from entlink.studies.pictures.models import Models

        self._place, self._kb, self._captions, self._config = place, kb, captions, config
        self._options, self._progress = options, progress
        linker = load(kb.folder, config=config, mentions="given")
        stack.callback(linker.kb.close)
        self._linker = linker
        self.notes: list[str] = []
        self._stages = Stages(linker, config, progress)
        asked = [one for split in SPLITS for one in captions.parts[split]]
        whole = Whole(asked, self._stages, place, options)
        plain = whole.of()
        likeness = place.kept("candidates/likeness.json", _Likeness, lambda: _Likeness(self._stages.likeness(asked)))
        self.splits: list[SplitFacts] = []
        parts = self._parts(plain, likeness.cosines)
        specs = evidence_specs(list(self._stages.text), has_pictures=has_pictures(plain))
        models = Models(kb, place, options, progress) if options.models else None
        self._answers = Answers(place, whole, parts, specs, models, options, progress)

    def _parts(self, plain: Material, cosines: Sequence[float | None]) -> dict[str, list[int]]:
        """The places of each part's mentions, near-copies left out; and of the test part with them."""
        parts, start = {}, 0
        for split in SPLITS:
            every = range(start, start + len(self._captions.parts[split]))
            near = {at for at in every if (cosine := cosines[at]) is not None and cosine >= self._options.near_copy}
            parts[split] = [at for at in every if at not in near]
            if not parts[split]:
                raise InputError(
                    f"all mentions of the part {split} are near-copies. Raise near_copy, or give more captions"
                )
            part = plain.part(parts[split], split)
            pictured = sum(cosines[at] is not None for at in parts[split])
            self.splits.append(_facts(part, len({plain.asked[at].document.id for at in every}), len(near), pictured))
            start = every.stop
        return {**parts, ALL: list(every)}

    # The whole

    def study(
        self, data: Sequence[str | Path], runs: Sequence[RunSource], command: str, start: float
    ) -> PictureStudy:
        options, analyses = self._options, Analyses(self._answers, self._options)
        candidates = self._candidates() if options.wants("candidates") else None
        rankers, compared = [], []
        if options.wants("rankers"):
            rankers = [*analyses.rankers(), *self._imported(runs)]
            compared = analyses.compared()
        slices = analyses.slices() if options.wants("slices") else []
        robustness, more = analyses.robustness() if options.wants("robustness") else ([], [])
        cases, differing = self._cases(analyses) if options.wants("cases") else ([], {})
        study = PictureStudy(
            facts=self._facts(),
            options=options,
            training=self._answers.models.training if self._answers.models else None,
            splits=self.splits,
            left_out=dict(self._captions.left_out),
            text_evidence=list(self._stages.text),
            candidates=candidates,
            rankers=rankers,
            compared=[*compared, *more],
            slices=slices,
            sliced=list(options.slices),
            ablation=analyses.ablation() if options.wants("ablation") else [],
            removal=analyses.removal() if options.wants("removal") else None,
            curves=analyses.curves() if options.wants("curves") else [],
            pooling=analyses.pooling() if options.wants("pooling") else [],
            robustness=robustness,
            cases=cases,
            differing=differing,
            notes=list(dict.fromkeys([*self.notes, *self._stages.notes])),
            published=published_figures(_PAPER, _TABLES),
            seconds=round(perf_counter() - start, 1),
            command=command,
        )
        return study if study.published else msgspec.structs.replace(study, notes=[*study.notes, NOT_THERE])

    def _facts(self) -> Facts:
        """Of all files: each part may have its own."""
        encoders = encoder_identities(self._linker, names_of(self._config))
        found = [data.facts(self._kb, encoders) for data in self._captions.data]
        return msgspec.structs.replace(found[0], files=[file for one in found for file in one.files])

    def _candidates(self) -> CandidateStudy:
        """Table 4, by the study of candidates, on the test mentions that rankers are asked about."""
        dev, test = (self._written(part) for part in ("dev", "test"))
        several = len(names_of(self._config)) > 1
        options = CandidateOptions(ks=_KS, deep=True, published=True, dev=(str(dev),) if several else ())
        return self._place.kept(
            "candidates/study.json",
            CandidateStudy,
            lambda: study_candidates(self._kb.folder, [test], self._config, options, progress=self._progress),
        )

    def _written(self, part: str) -> Path:
        """A file of the mentions that rankers are asked about."""
        path = self._place.folder / "candidates" / f"{part}.jsonl"
        lines = (encode_document(one) + b"\n" for one in _with_gold(self._answers.material(part).asked))
        write_whole(path, b"".join(lines))
        return path

    def _imported(self, sources: Sequence[RunSource]) -> Iterator[RankerScores]:
        asked = self._answers.material("test").asked
        for source in sources:
            run = read_run(source, asked, self._captions.identities)
            self.notes += run.notes
            scores = scores_of(asked, [run.outcomes], self._options, has_lists=run.has_lists)
            yield RankerScores(run.name, "", "run", 1, None, scores)

    def _cases(self, analyses: Analyses) -> tuple[list[Case], dict[str, int]]:
        """Those of the last pair: the fusion that sees all where there are models, else the sum of all evidence."""
        pairs = analyses.pairs()
        if not pairs:
            return [], {}
        text, both = pairs[-1]
        seen, read = (self._answers.runs(one, "test", seeds=1)[0] for one in (both, text))
        writer = CaseWriter(self._kb, pictures_of_entities(self._kb))
        answered = Answered(both.name, text.name, seen, read)
        return writer.cases(self._answers.material("test").asked, answered, self._options.cases)


def _facts(part: Material, documents: int, near: int, pictured: int) -> SplitFacts:
    return SplitFacts(part.name, documents, len(part.asked), near, reached(part), pictured)


def _with_gold(asked: Sequence[Asked]) -> Iterator[Document]:
    """The captions with the mentions that are asked for as gold, pictures by whole paths."""
    documents: dict[str, tuple[Document, list[GoldLink]]] = {}
    for one in asked:
        gold = GoldLink(one.mention.span, tuple(sorted(one.right)))
        documents.setdefault(one.document.id, (one.document, []))[1].append(gold)
    for document, links in documents.values():
        images = tuple(msgspec.structs.replace(image, uri=_whole_path(image.uri)) for image in document.images)
        yield msgspec.structs.replace(document, gold=tuple(links), images=images)


def _whole_path(uri: str) -> str:
    return uri if ":" in uri[:12] else str(Path(uri).resolve())
