"""Adapting a linker to a knowledge base: it is learnt from its own texts and links, without annotated data."""

from __future__ import annotations

import logging
from math import ceil
from pathlib import Path

import msgspec

from entlink.encoders.identities import AUTO
from entlink.errors import EntlinkError, InputError, MissingExtraError
from entlink.io.atomic import write_lock
from entlink.io.progress import Progress, ignore_progress
from entlink.kb.indexes.derived import COMPANY, VECTORS, derived_indexes
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt.lessons import BI_ENCODER
from entlink.learning.adapt.report import AdaptReport
from entlink.learning.adapt.settings import config_of_training, encoder_of
from entlink.learning.adapt.stages import FLAT, Stages, seconds_to_train
from entlink.learning.adapt.state import STEP, AdaptFolder, AdaptOptions, AdaptState, check_same, facts_of
from entlink.learning.adapt.training import NOT_WANTED
from entlink.learning.fit.calibration import FEWEST_ENTITIES
from entlink.learning.fit.logistic import numpy_or_told
from entlink.learning.own_texts.texts import has_text
from entlink.linking.config import linker_beside, of_given_spans, read_config
from entlink.linking.saved import CARD_FILE, save_linker, with_chosen_encoder

_ENTITIES_A_SECOND = 60.0  # encoded for an index, on two cores
_INDEXED_A_SECOND = 2_500.0  # over their words, names cut short and names that stand together
_SECONDS_OF_A_STEP = 30.0  # of training, the first: examples are read before, and what is held out is looked at
_FOR_INDEXES = 0.5  # of the minutes, at most
_LOCK = "adapting.lock"
USUAL = AdaptOptions()


def adapt(
    kb_path: str | Path,
    options: AdaptOptions = USUAL,
    progress: Progress = ignore_progress,
    *,
    restart: bool = False,
    command: str = "",
) -> AdaptReport:
    """Adapt a linker to a knowledge base and save it beside it, or in `options.output`.

    Whoever calls again after an interruption goes on where it stopped; `restart` begins anew, and replaces a linker
    that was not made by adapting. Without entities or texts to learn from nothing is changed; where the texts turn
    out to give too few examples, the knowledge base keeps the indexes that were made to find them.
    """
    numpy_or_told()
    path = Path(kb_path)
    folder = AdaptFolder(Path(options.output) if options.output else linker_beside(path))
    folder.check_start(options.config)
    begun = None if restart else folder.read()
    folder.check_output(replaces=restart or (begun is not None and begun.replaces))
    with KnowledgeBase.open(path) as kb:
        _check(kb, options, progress)
        facts, out_of_reach = facts_of(kb, options), _out_of_reach(kb, options)
    with write_lock(folder.path, _LOCK):
        state = None if restart else folder.read()
        if state is None:
            folder.clear(_LOCK)
            state = AdaptState(facts, with_chosen_encoder(read_config(options.config), path), replaces=restart)
        else:
            check_same(folder, state, facts)
        stages = Stages(path, options, folder, state, progress)
        _log_start(folder, state, options, out_of_reach)
        _run(stages)
        report = _report(path, folder, state, stages.accuracy)
        if not state.finished:
            step = {"command": command, STEP: msgspec.to_builtins(report), "options": msgspec.to_builtins(options)}
            (folder.linker / CARD_FILE).unlink(missing_ok=True)  # of a run that was killed as it ended
            config = folder.resolved(state.config)
            save_linker(
                folder.linker, of_given_spans(config) if options.config == USUAL.config else config, step, path.name
            )
            state.finished = True
            folder.write(state)
        folder.log(
            f"finished: accuracy {report.before:.3f} before and {report.after:.3f} after; saved as {report.folder}"
        )
        folder.put_in_place()
    for one in report.stages:
        if one.note.startswith("left out") and NOT_WANTED not in one.note:
            logging.getLogger(__name__).warning("%s: the stage %s was %s", path, one.name, one.note)
    return report


def _log_start(folder: AdaptFolder, state: AdaptState, options: AdaptOptions, out_of_reach: str) -> None:
    done = [one.name for one in state.stages]
    spent = f"gone on with after {state.seconds / 60:.1f} minutes; done: {', '.join(done)}" if done else "begun"
    folder.log(f"{spent}. {options.minutes:g} minutes in all, from the linker {options.config}")
    if out_of_reach and BI_ENCODER not in done:
        folder.log(f"{BI_ENCODER} will not be reached: {out_of_reach}")
        if options.train:
            logging.getLogger(__name__).warning("the stage %s will not be reached: %s", BI_ENCODER, out_of_reach)


def _out_of_reach(kb: KnowledgeBase, options: AdaptOptions) -> str:
    """Why no bi-encoder will be trained, as far as that is known at the start; all other stages are always run."""
    from entlink.encoders.extras import require_train

    if not options.train:
        return NOT_WANTED
    try:
        require_train("training a model")
    except MissingExtraError as problem:
        return str(problem)
    indexing = _seconds_of_vectors(kb, options) + (0.0 if _has_index(kb, COMPANY) else len(kb) / _INDEXED_A_SECOND)
    left = seconds_to_train(options.minutes, indexing, links=kb.has_hyperlinks)
    if left >= _SECONDS_OF_A_STEP:
        return ""
    return (
        f"of {options.minutes:g} minutes, indexes of {len(kb):,} entities and examples leave about "
        f"{max(left, 0):.0f} seconds, and training takes {_SECONDS_OF_A_STEP:.0f} at least. Give more --minutes, or "
        "--no-train"
    )


def _run(stages: Stages) -> None:
    try:
        stages.run()
    except InputError:
        if not any(one.name == "examples" for one in stages.state.stages):
            stages.folder.forget()
        raise


def _check(kb: KnowledgeBase, options: AdaptOptions, progress: Progress) -> None:
    """Whether there is something to learn from, and time for it."""
    count = len(kb)
    if count < FEWEST_ENTITIES:
        raise InputError(
            f"{kb.folder}: {count} {'entity is' if count == 1 else 'entities are'} too few to learn from; "
            f"{FEWEST_ENTITIES} are needed. Link with zero-shot instead (--config zero-shot)"
        )
    if not kb.has_hyperlinks and not has_text(kb, options.seed):
        raise InputError(
            f"{kb.folder}: its descriptions have no text to learn from. Build it with --descriptions full, or with "
            "entities that have some"
        )
    seconds = _seconds_of_vectors(kb, options)
    if seconds > _FOR_INDEXES * options.minutes * 60:
        least = ceil(seconds / _FOR_INDEXES / 6) / 10
        raise InputError(
            f"{options.minutes:g} minutes are too few: the vectors of {count:,} entities alone take about "
            f"{seconds / 60:.1f}. Give --minutes {least:g} or more, or make them first with `entlink kb index "
            f"{kb.folder} --vectors ENCODER`"
        )
    if options.train:
        _check_trainings(options, encoder_of(with_chosen_encoder(read_config(options.config), kb.folder)), progress)


def _check_trainings(options: AdaptOptions, encoder: str, progress: Progress) -> None:
    """Settings, a base or a device that no training could have are told before an hour is spent.

    For the same reason a base is fetched now.
    """
    from entlink.encoders.extras import require_train

    if encoder == AUTO:
        return  # the stages say so
    try:
        require_train("training a model")
    except MissingExtraError:
        return
    from entlink.learning.base_fit import check_base
    from entlink.learning.train import device_of

    # Whether there are links is not known yet: without them more is asked of a base.
    config = config_of_training(options, links=False, encoder=encoder)
    device_of(config.training.device)
    _fetch(config.model.base, progress)
    check_base(config.model)


def _fetch(base: str, progress: Progress) -> None:
    from entlink.learning.base import fetch_base

    try:
        fetch_base(base, progress)
    except EntlinkError as problem:
        if type(problem) is not EntlinkError:  # it was fetched, and something else is wrong
            raise
        raise EntlinkError(f"{problem}. With --no-train all but the models is adapted") from problem


def _seconds_of_vectors(kb: KnowledgeBase, options: AdaptOptions) -> float:
    """How long the vectors will take that are not there yet."""
    wanted = any(stage.get("name") == "dense" for stage in read_config(options.config).retriever)
    return len(kb) / _ENTITIES_A_SECOND if wanted and len(kb) <= FLAT and not _has_index(kb, VECTORS) else 0.0


def _has_index(kb: KnowledgeBase, name: str) -> bool:
    return any(one.name.startswith(name) for one in derived_indexes(kb.index_folder))


def _report(path: Path, folder: AdaptFolder, state: AdaptState, after: float) -> AdaptReport:
    before = next(one.after for one in state.stages if one.name == "start")
    return AdaptReport(
        folder=str(folder.output),
        kb=path.name,
        examples=state.examples,
        held_back=state.held_back,
        before=before or 0.0,
        after=after,
        seconds=round(state.seconds, 1),
        stages=state.stages,
    )


__all__ = ["AdaptOptions", "AdaptReport", "adapt"]
