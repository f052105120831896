"""`entlink study`: candidate retrieval, and linking against an unfamiliar knowledge base, as papers measure them."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError
from collections.abc import Iterator
from typing import TYPE_CHECKING

from entlink_cli import options, scoring, values
from entlink_cli.parsing import Command
from entlink_cli.study.output import (
    check_targets,
    facts_told,
    noted,
    output_options,
    shown,
    systems_option,
    tell,
    write_text,
)
from entlink_cli.terminal.output import number_of
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.studies.candidates.results import CandidateStudy
    from entlink.studies.systems import System
    from entlink.studies.unfamiliar.results import UnfamiliarStudy
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0


def _ks(value: str) -> tuple[int, ...]:
    """Whole numbers with commas between them, each once, the smallest first."""
    try:
        return tuple(sorted({values.whole(part.strip()) for part in value.split(",")}))
    except ArgumentTypeError:
        raise ArgumentTypeError(f"{value!r} are not whole numbers from 1 on such as 1,10,100") from None


def _retrievers(value: str) -> tuple[str, ...]:
    """Names with + between them."""
    names = tuple(part.strip() for part in value.split("+"))
    if not all(names):
        raise ArgumentTypeError(f"{value!r} are not names of retrievers with + between them, such as alias+dense")
    return names


def _data(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument(
        "data", metavar="DATA", nargs="+", help="documents with gold, of any format that entlink reads"
    )
    parser.add_argument("--format", metavar="F", help="format of the data (default: told from its content)")
    scoring.match_gold(parser)


def _configure_candidates(parser: Parser) -> None:
    _data(parser)
    parser.add_argument(
        "--config",
        metavar="C",
        help="whose retrievers: a TOML file, a saved linker, or one in the box (default: the linker beside the "
        "knowledge base, else zero-shot)",
    )
    parser.add_argument(
        "--retriever",
        metavar="NAME",
        action="append",
        default=[],
        help="only this retriever of the configuration, or another one by its name; can be repeated",
    )
    parser.add_argument(
        "--k", metavar="K,…", type=_ks, default=(1, 10, 50, 100), help="recall at these (default: 1,10,50,100)"
    )
    parser.add_argument(
        "--slice",
        metavar="S",
        action="append",
        default=[],
        help="measure parts of the gold apart, too: title, popular, overlap, type, domain, language, meta:FIELD, "
        "gold:FIELD; can be repeated",
    )
    parser.add_argument("--limit", metavar="N", type=values.whole, help="take the first N documents only")
    parser.add_argument(
        "--deep", action="store_true", help="lists as long as the largest K, whatever the configuration says"
    )
    parser.add_argument(
        "--dev",
        metavar="DATA",
        action="append",
        default=[],
        help="documents with gold on which to choose how retrievers go together, by weights and by slots; can be "
        "repeated",
    )
    parser.add_argument(
        "--ensemble",
        metavar="A+B",
        type=_retrievers,
        action="append",
        default=[],
        help="retrievers to choose that for, such as alias+dense+pictures (default: all of the configuration); can "
        "be repeated",
    )
    parser.add_argument(
        "--published", action="store_true", help="show the published figures for WikiDiverse, which is other data"
    )
    output_options(parser)


def _candidates(arguments: Namespace) -> None:
    from entlink.evaluation.scoring.conventions import GoldMatch
    from entlink.studies.candidates.results import CandidateOptions
    from entlink.studies.candidates.study import study_candidates
    from entlink.studies.candidates.tables import candidate_lines, candidate_tables
    from entlink.studies.writing import csv_text

    check_targets(arguments.csv)
    wanted = CandidateOptions(
        ks=arguments.k,
        retrievers=tuple(arguments.retriever),
        slices=tuple(arguments.slice),
        limit=arguments.limit,
        deep=arguments.deep,
        dev=tuple(arguments.dev),
        ensembles=tuple(arguments.ensemble),
        published=arguments.published,
        match_gold=GoldMatch(arguments.match_gold),
        format=arguments.format,
    )
    command = shlex.join(["entlink", *arguments.words])
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        study = study_candidates(
            arguments.kb, arguments.data, arguments.config, wanted, command=command, progress=report
        )
    if arguments.csv:
        write_text(arguments.csv, csv_text(candidate_lines(study)))
    tell(arguments, study, [*_candidate_head(study), *shown(candidate_tables(study)), *noted(study.notes)])


def _candidate_head(study: CandidateStudy) -> Iterator[str]:
    yield from facts_told(study.facts)
    left = ", ".join(f"{reason} {count:,}" for reason, count in study.left_out.items())
    yield (
        f"{number_of(study.mentions, 'gold mention')} in {number_of(study.documents, 'document')}"
        + (f"; left out: {left}" if left else "")
    )
    yield (
        f"milliseconds a mention: median over {number_of(study.batches, 'batch', 'batches')} of up to "
        f"{number_of(study.batch_size, 'document')}, one mention asked before; first: nothing kept yet (cold), "
        "second: the same again (warm)"
    )


def _configure_unfamiliar(parser: Parser) -> None:
    _data(parser)
    parser.add_argument(
        "--domain-by",
        metavar="WAY",
        help="what tells a document's domain: type (that most of its gold has), page (its id, up to a #, is an "
        "entity), file (its file's name), meta:FIELD (default: meta:domain, else type)",
    )
    parser.add_argument(
        "--domain", metavar="D", action="append", default=[], help="only this domain; can be repeated"
    )
    parser.add_argument(
        "--domain-depth",
        metavar="N",
        type=values.weight,
        default=0,
        help="join types by their first N parts: with 1, A.b and A.c are the domain A (default: 0, types as they "
        "are)",
    )
    systems_option(parser, "). The baselines are always there")
    parser.add_argument(
        "--model",
        metavar="NAME=MODEL",
        type=values.pair,
        action="append",
        default=[],
        help="study this bi-encoder or cross-encoder by itself, wherever it was trained; can be repeated",
    )
    parser.add_argument(
        "--detector", metavar="NAME", help="what finds mentions end to end (default: each system's own)"
    )
    parser.add_argument("--limit", metavar="N", type=values.whole, help="take the first N documents of each domain")
    parser.add_argument("--deep", action="store_true", help="lists of 64 candidates, whatever the configurations say")
    parser.add_argument("--latex", metavar="FILE", help="write the tables to this file")
    output_options(parser)


def _unfamiliar(arguments: Namespace) -> None:
    from entlink.evaluation.scoring.conventions import GoldMatch
    from entlink.studies.unfamiliar.study import UnfamiliarOptions, study_unfamiliar_kb
    from entlink.studies.unfamiliar.tables import unfamiliar_lines, unfamiliar_tables
    from entlink.studies.writing import csv_text, latex_text

    check_targets(arguments.csv, arguments.latex)
    wanted = UnfamiliarOptions(
        by=arguments.domain_by,
        domains=tuple(arguments.domain),
        depth=arguments.domain_depth,
        detector=arguments.detector,
        limit=arguments.limit,
        match_gold=GoldMatch(arguments.match_gold),
        format=arguments.format,
    )
    command = shlex.join(["entlink", *arguments.words])
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        study = study_unfamiliar_kb(
            arguments.kb, arguments.data, _systems(arguments), wanted, command=command, progress=report
        )
    tables, head = unfamiliar_tables(study), list(_unfamiliar_head(study))
    if arguments.csv:
        write_text(arguments.csv, csv_text(unfamiliar_lines(study)))
    if arguments.latex:
        write_text(arguments.latex, latex_text(tables, [*head, *study.notes]))
    tell(arguments, study, [*head, *shown(tables), *noted(study.notes)])


def _systems(arguments: Namespace) -> list[System]:
    from entlink.studies.systems import ConfiguredSystem, baselines, model_system, own_linker

    chosen = arguments.system or [own_linker(arguments.kb)]
    names = [name for name, _ in (*chosen, *arguments.model)]
    for name in names:
        if names.count(name) > 1:
            arguments.parser.error(f"{name}=… is there twice; give each system and model its own name")
    return [
        *baselines(),
        *(model_system(name, model) for name, model in arguments.model),
        *(ConfiguredSystem(name, config, deep=arguments.deep) for name, config in chosen),
    ]


def _unfamiliar_head(study: UnfamiliarStudy) -> Iterator[str]:
    yield from facts_told(study.facts)
    documents = sum(one.documents for one in study.domains)
    left = ", ".join(f"{reason} {count:,}" for reason, count in study.left_out.items())
    yield (
        f"{number_of(documents, 'document')} in {number_of(len(study.domains), 'domain')}, told by {study.by}"
        + (f", depth {study.depth}" if study.depth else "")
        + (f"; documents left out: {left}" if left else "")
    )
    yield f"detector: {study.detector}; convention: {study.convention}; gold outside of its domain is NIL"
    yield f"  {study.description}"


COMMANDS = {
    "study candidates": Command(
        _candidates,
        _configure_candidates,
        "Measure candidate retrieval given the gold spans: recall at K, MRR and milliseconds a mention of each "
        "retriever alone, of their fusion, and of the ranker after it. Gold that the knowledge base lacks is left "
        "out and counted.",
        (
            "entlink study candidates wiki.kb samples/conversations.jsonl --config lexical",
            "entlink study candidates wiki.kb samples/conversations.jsonl --k 1,10 --slice title --csv k.csv",
            "entlink study candidates wiki.kb samples/conversations.jsonl --dev samples/article.gold.jsonl "
            "--ensemble alias+bm25",
        ),
    ),
    "study unfamiliar-kb": Command(
        _unfamiliar,
        _configure_unfamiliar,
        "Link the documents of each domain against their own part of a knowledge base, given the gold spans and end "
        "to end, with the baselines and the tables of the paper on unfamiliar knowledge bases.",
        (
            "entlink kb build samples/worlds.jsonl -o worlds.kb",
            "entlink study unfamiliar-kb worlds.kb samples/worlds.gold.jsonl --system names=lexical",
            "entlink study unfamiliar-kb worlds.kb samples/worlds.gold.jsonl --domain sailing --latex worlds.tex",
        ),
    ),
}
