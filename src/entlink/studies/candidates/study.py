"""Candidate retrieval given the gold spans: each retriever alone, all of them fused, and the ranker after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import msgspec

from entlink.documents import Candidate
from entlink.errors import ConfigError, InputError
from entlink.evaluation.identities import Identities
from entlink.evaluation.published import PublishedFigure
from entlink.evaluation.scoring.slices import slicers
from entlink.interfaces import Question, Shortlist
from entlink.io.progress import Progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.config import LinkerConfig, read_config
from entlink.linking.linker import Linker, load
from entlink.studies.candidates.asked import Batch, GoldMentions
from entlink.studies.candidates.ensembles import Ensemble, ensembles_of, of_ensemble
from entlink.studies.candidates.results import CandidateOptions, CandidateStudy, How, Method, SliceFound
from entlink.studies.data import NOT_THERE, StudyData, check_kb, no_gold, published_figures
from entlink.studies.settings import available, config_for, deepened, encoder_identities, names_of, with_retrievers
from entlink.studies.timing import KeptPools, Stopwatch, Tally, Times, by_evidence

_PASSES = ("asking for the first time", "asking again")
_VECTORS = "vectors"  # in the knowledge base's folder: what encoders made before


class _Row:
    """A method with its counts and times."""

    def __init__(self, name: str, how: How) -> None:
        self.name, self.how = name, how
        self.tally, self.times = Tally(), Times()

    def add(self, batch: Batch, lists: Sequence[Sequence[Candidate]], number: int, seconds: float) -> None:
        self.times.add(number, seconds, len(batch.gold))
        if number == 0:
            for gold, candidates, labels in zip(batch.gold, lists, batch.labels, strict=True):
                self.tally.add(gold, candidates, labels)

    def result(self, ks: Sequence[int]) -> Method:
        found, slices = self.tally.found(ks), self.tally.slices(ks)
        return Method(self.name, self.how, found, slices, self.times.median(0), self.times.median(1))


class _Alone:
    """A retriever by itself."""

    def __init__(self, name: str, linker: Linker) -> None:
        self.linker = linker
        self.row = _Row(name, "own list")

    def ask(self, batch: Batch, number: int) -> None:
        start = perf_counter()
        lists = self.linker.retrieve(batch.questions)
        self.row.add(batch, _flat(lists), number, perf_counter() - start)

    @property
    def limit(self) -> int | None:
        """How many candidates it gives at most, if it says so."""
        limit = getattr(self.linker.retrievers[0], "limit", None)
        return limit if isinstance(limit, int) else None


class _Together:
    """All retrievers as the linker has them, and its ranker; what they say of each other's finds is looked at."""

    def __init__(self, linker: Linker, config: LinkerConfig) -> None:
        self.linker = linker
        is_fused = config.fusion is not None
        name = f"fusion ({config.fusion['name']})" if config.fusion is not None else "each in turn"
        self.row = _Row(name, "fused" if is_fused else "in turn")
        self.ranked = _Row(f"ranker ({config.ranker.get('name')})", "ranked")
        self.on_demand: dict[str, _Row] = {}
        self._watches: dict[str, Stopwatch] = {}
        self._fusion: KeptPools | None = None
        if linker.pooling is not None:
            self._watch()

    def _watch(self) -> None:
        pooling = self.linker.pooling
        assert pooling is not None
        for name, scorer in pooling.scorers.items():
            if name in pooling.retrievers:
                self._watches[name] = Stopwatch(scorer)
                self.on_demand[name] = _Row(name, "on demand")
        self._fusion = pooling.fusion = KeptPools(pooling.fusion)

    @property
    def keep(self) -> int | None:
        keep = getattr(self._fusion and self._fusion.fusion, "keep", None)
        return keep if isinstance(keep, int) else None

    def ask(self, batch: Batch, number: int) -> None:
        for watch in self._watches.values():
            watch.seconds = 0.0
        start = perf_counter()
        lists = _flat(self.linker.retrieve(batch.questions))
        middle = perf_counter()
        ranked = self.linker.rank(_shortlists(batch.questions, lists))
        end = perf_counter()
        self.row.add(batch, lists, number, middle - start)
        self.ranked.add(batch, ranked, number, end - start)
        for name, watch in self._watches.items():
            pools = [self._of_types(by_evidence(pool, name)) for pool in self._fusion.pools] if self._fusion else []
            self.on_demand[name].add(batch, pools, number, watch.seconds)

    def _of_types(self, candidates: list[Candidate]) -> list[Candidate]:
        types = self.linker.types
        return (
            [one for one in candidates if types.intersection(self.linker.kb.types(one.entity))]
            if types
            else candidates
        )


def _flat(lists: Sequence[Sequence[Sequence[Candidate]]]) -> list[Sequence[Candidate]]:
    return [candidates for of_document in lists for candidates in of_document]


def _shortlists(questions: Sequence[Question], lists: Sequence[Sequence[Candidate]]) -> list[Shortlist]:
    mentions = [(question.document, mention) for question in questions for mention in question.mentions]
    return [Shortlist(*place, candidates) for place, candidates in zip(mentions, lists, strict=True)]


def study_candidates(
    kb: str | Path,
    data: Sequence[str | Path],
    config: LinkerConfig | str | Path | None = None,
    options: CandidateOptions | None = None,
    *,
    command: str = "",
    progress: Progress | None = None,
) -> CandidateStudy:
    """R@K, MRR and milliseconds a mention of each retriever of a configuration, of their fusion and its ranker.

    Every method is a linker of its own, freshly opened, so that none profits from what another has kept; all are
    asked for the same batches, twice. One mention is asked for before, and not timed: models are loaded then.
    Ensembles are chosen on `dev`, never on the data itself.
    """
    options = options or CandidateOptions()
    if not options.ks:
        raise InputError("there is no K to measure recall at. Give at least one, such as 10")
    if not isinstance(config, LinkerConfig):
        config = config_for(kb) if config is None else read_config(config)
    config = with_retrievers(config, options.retrievers)
    if options.deep:
        config = deepened(config, max(options.ks))
    with ExitStack() as stack:
        base = stack.enter_context(KnowledgeBase.open(kb))
        check_kb(base)
        had_vectors = (base.folder / _VECTORS).exists()
        config, missing = available(config, base)
        identities = Identities(base, options.match_gold)
        documents = StudyData(data, identities, format=options.format, limit=options.limit)
        asked = GoldMentions(
            documents,
            slicers(
                options.slices,
                identities=identities,
                names=base,
                coarse=base.types.coarse_of if base.types.are_coarse else None,
            ),
            config.batch_size,
        )
        alone = list(_alone(stack, kb, config))
        together = _Together(_opened(stack, kb, config), config)
        ensembles = list(_ensembles(stack, kb, config, options, missing))
        _tune(ensembles, GoldMentions(_dev(options, identities), (), config.batch_size), progress)
        _measure(asked, alone, together, ensembles, progress)
        if not asked.mentions:
            raise _nothing_asked(asked)
        _check_slices(options.slices, together.row.tally.slices(options.ks))
        encoders = encoder_identities(together.linker, names_of(config))
        return CandidateStudy(
            facts=documents.facts(base, encoders),
            documents=asked.documents,
            mentions=asked.mentions,
            left_out=dict(asked.left_out),
            ks=options.ks,
            methods=list(_methods(alone, together, ensembles, missing, options.ks)),
            batches=asked.batches,
            batch_size=config.batch_size,
            notes=[
                *(note for one in ensembles for note in one.notes),
                *_notes(alone, together, options, had_vectors=had_vectors and bool(encoders)),
            ],
            published=_published(options),
            command=command,
        )


def _opened(stack: ExitStack, kb: str | Path, config: LinkerConfig) -> Linker:
    linker = load(kb, config=config, mentions="given")
    stack.callback(linker.kb.close)
    return linker


def _alone(stack: ExitStack, kb: str | Path, config: LinkerConfig) -> Iterator[_Alone]:
    for name, stage in zip(names_of(config), config.retriever, strict=True):
        own = msgspec.structs.replace(config, retriever=[stage], fusion=None, evidence=[], ranker={"name": "prior"})
        yield _Alone(name, _opened(stack, kb, own))


def _ensembles(
    stack: ExitStack, kb: str | Path, config: LinkerConfig, options: CandidateOptions, missing: Mapping[str, str]
) -> Iterator[Ensemble]:
    if options.ensembles and not options.dev:
        raise ConfigError("an ensemble is chosen on development data: give some (--dev)")
    for names in ensembles_of(config, options.ensembles, missing) if options.dev else ():
        linker = _opened(stack, kb, of_ensemble(config, names, max(options.ks)))
        yield Ensemble(names, linker, options.ks)


def _dev(options: CandidateOptions, identities: Identities) -> StudyData:
    return StudyData(options.dev, identities, format=options.format)


def _tune(ensembles: Sequence[Ensemble], dev: GoldMentions, progress: Progress | None) -> None:
    for number, one in enumerate(ensembles):
        if progress is not None:
            progress("choosing ensembles", number, len(ensembles))
        one.tune(dev)
        if not dev.mentions:
            raise _nothing_asked(dev)


def _measure(
    asked: GoldMentions,
    alone: list[_Alone],
    together: _Together,
    ensembles: Sequence[Ensemble],
    progress: Progress | None,
) -> None:
    by_themselves: list[_Alone | Ensemble] = [*alone, *ensembles]
    is_warm = False
    for number, stage in enumerate(_PASSES):
        total = asked.mentions
        for batch in asked:
            if not is_warm:
                _warm_up(batch, [*(one.linker for one in by_themselves), together.linker])
                is_warm = True
            for one in by_themselves:
                one.ask(batch, number)
            together.ask(batch, number)
            if progress is not None:
                progress(stage, asked.mentions, total)


def _warm_up(batch: Batch, linkers: Sequence[Linker]) -> None:
    """Ask for one mention: what is loaded only when it is needed is there then."""
    document, mentions = batch.questions[0]
    question = Question(document, mentions[:1])
    for linker in linkers:
        linker.rank(_shortlists([question], _flat(linker.retrieve([question]))))


def _nothing_asked(asked: GoldMentions) -> InputError:
    if not asked.left_out:
        return no_gold(asked.data.files)
    counted = ", ".join(f"{reason} {count:,}" for reason, count in asked.left_out.items())
    return InputError(
        f"no gold mention is left to ask for ({counted}). Check that data and knowledge base belong together"
    )


def _check_slices(wanted: Sequence[str], found: Sequence[SliceFound]) -> None:
    """A slice without a single mention was most likely asked for by a wrong name."""
    named = {one.slice for one in found}
    for name in wanted:
        if name not in named:
            raise ConfigError(f"the slice {name!r} is empty: no gold mention has a value for it")


def _methods(
    alone: Sequence[_Alone],
    together: _Together,
    ensembles: Sequence[Ensemble],
    missing: dict[str, str],
    ks: Sequence[int],
) -> Iterator[Method]:
    for one in alone:
        yield _chosen(one, together).result(ks)
    for name, why in missing.items():
        yield Method(name, "missing", why=why)
    for ensemble in ensembles:
        yield from ensemble.results()
    yield together.row.result(ks)
    yield together.ranked.result(ks)


def _chosen(one: _Alone, together: _Together) -> _Row:
    """Its own lists; of a retriever without any, its order of what the others found."""
    row = together.on_demand.get(one.row.name)
    return one.row if row is None or one.row.tally.longest or not row.tally.longest else row


def _notes(
    alone: Sequence[_Alone], together: _Together, options: CandidateOptions, *, had_vectors: bool
) -> Iterator[str]:
    largest = max(options.ks)
    short = [f"{one.row.name} {one.limit}" for one in alone if one.limit is not None and one.limit < largest]
    if together.keep is not None and together.keep < largest:
        short.append(f"{together.row.name} {together.keep}")
    if short:
        yield f"lists are cut at {', '.join(short)}: recall beyond is that of the whole list. --deep lifts this"
    for one in alone:
        if _chosen(one, together).how == "on demand":
            yield (
                f"{one.row.name} has no index to search, so it orders what the other retrievers found (on demand); "
                "its time is that of scoring the pool"
            )
        elif not one.row.tally.longest:
            yield f"{one.row.name} found nothing for any mention"
    if had_vectors:
        yield "vectors of entities were kept by an earlier run, so the first pass had fewer to make"
    for figure in _published(options):
        if figure.misprint:
            yield f"published {figure.system}, {figure.where['metric']}: {figure.note}"
    if options.published and not _published(options):
        yield NOT_THERE


def _published(options: CandidateOptions) -> tuple[PublishedFigure, ...]:
    return published_figures("wikidiverse", ("4",)) if options.published else ()
