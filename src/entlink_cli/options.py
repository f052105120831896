"""Options that several commands have in common."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from entlink_cli import values
from entlink_cli.terminal.output import note

if TYPE_CHECKING:
    from argparse import _ArgumentGroup
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from entlink.engine.spark import SparkEngine
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.linking.config import LinkerConfig
    from entlink.linking.dated import DatedLinker
    from entlink.linking.linker import Linker
    from entlink.sources import WikiOptions
    from entlink_cli.parsing import Namespace, Parser
    from entlink_cli.terminal.progress import Report

# Those of `entlink.sources.FORMATS`, which help must not wait for.
FORMATS = (
    "jsonl",
    "csv",
    "tsv",
    "parquet",
    "articles",
    "wikiextractor",
    "zeshel",
    "skos",
    "obo",
    "mediawiki",
    "mediawiki-sql",
    "wikidata",
)
_READ_SHORT_NAMES = {"names", "shortened"}  # detectors and retrievers
_READ_PICTURES = {"pictures", "multimodal"}  # retrievers, evidence and rankers
_DETECTOR_SETTINGS = {"what": "names", "case": "dictionary", "min_link_probability": "dictionary"}


def kb_argument(parser: Parser) -> None:
    parser.add_argument("kb", metavar="NAME.kb", help="the folder of the knowledge base")


def kb_to_edit_argument(parser: Parser) -> None:
    """The knowledge base of an edit, and what to do while another process is writing to it."""
    kb_argument(parser)
    parser.add_argument("--wait", action="store_true", help="wait while another process is writing, do not fail")


def as_json(parser: Parser, what: str = "print JSON") -> None:
    parser.add_argument("--json", action="store_true", help=what)


def as_of(parser: Parser, *, or_document: bool = False) -> None:
    """A date in place of now; for documents, each one's own."""
    what = "as of this ISO date, not now: the nearest snapshot at or before it, or dated versions where there is none"
    if or_document:
        parser.add_argument(
            "--as-of",
            metavar="DATE",
            type=values.date_or_document,
            help=f"{what}; with the word document, each document as of its own date",
        )
    else:
        parser.add_argument("--as-of", metavar="DATE", type=values.date, help=what)


def quiet(parser: Parser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no summary")


def machine(parser: Parser) -> None:
    """How much of the machine to use."""
    parser.add_argument(
        "--memory", metavar="SIZE", type=values.memory, default="2GB", help="memory for sorting (default: 2GB)"
    )
    parser.add_argument(
        "--processes", metavar="N", type=values.whole, help="processes (default: the cores, at most 8)"
    )


def engine(parser: Parser) -> None:
    """What a long step runs on."""
    group = parser.add_argument_group("to run on Apache Spark (see docs/scale.md)")
    group.add_argument(
        "--engine", choices=("local", "spark"), default="local", help="this machine (default), or Apache Spark"
    )
    group.add_argument(
        "--master",
        metavar="URL",
        type=values.text,
        help="where Spark runs: spark://host:port, yarn, k8s://…, local[N] (default: the one of spark-submit, else "
        "local[*])",
    )
    group.add_argument(
        "--conf",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=values.pair,
        help="a setting of Spark, such as spark.executor.memory=4g; can be repeated",
    )


@contextmanager
def opened_engine(arguments: Namespace, report: Report) -> Iterator[SparkEngine | None]:
    """The engine that the options of `engine` name; None for what a build takes by itself."""
    if arguments.engine != "spark":
        if arguments.master or arguments.conf:
            arguments.parser.error("--master and --conf need --engine spark")
        yield None
        return
    from entlink.engine.protocol import DEFAULT_MEMORY
    from entlink.engine.spark import SparkEngine

    memory = getattr(arguments, "memory", DEFAULT_MEMORY)
    with SparkEngine(
        master=arguments.master,
        processes=getattr(arguments, "processes", None),
        memory=memory,
        conf=dict(arguments.conf),
        progress=report,
    ) as made:
        yield made


def table(parser: Parser | _ArgumentGroup) -> None:
    """How to read sources."""
    parser.add_argument(
        "--format",
        metavar="F",
        help=f"format of the sources: {', '.join(FORMATS)} (default: told from name and content)",
    )
    parser.add_argument(
        "--columns",
        metavar="FIELD=COLUMN,…",
        type=values.column_pairs,
        default={},
        help="which column of a table is which field, such as id=sku,title=name",
    )


def reading(parser: Parser) -> None:
    """How to read sources that become something whole."""
    table(parser)
    parser.add_argument(
        "--language", metavar="L", help="language of records that do not say their own; of a wiki, of all its pages"
    )
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a bad record: stop (default), or leave it out and tell at the end",
    )


def wiki(parser: Parser) -> None:
    """How to read a wiki's dump."""
    group = parser.add_argument_group("of a wiki's dump")
    group.add_argument(
        "--namespace",
        metavar="N",
        action="append",
        default=[],
        type=values.text,
        help="take the pages of this namespace, by number or name; can be repeated (default: 0, the articles)",
    )
    group.add_argument(
        "--ids",
        choices=("title", "page", "wikidata"),
        default="title",
        help="what an entity's id is: its title (default), its page's number, or its Wikidata id where known",
    )
    group.add_argument("--rules", metavar="FILE", help="a TOML file of rules for the wiki's own templates")
    group.add_argument(
        "--page-seconds",
        metavar="S",
        type=values.positive,
        default=10.0,
        help="leave out a page that takes longer than this (default: 10)",
    )
    group.add_argument(
        "--page-megabytes",
        metavar="M",
        type=values.whole,
        default=512,
        help="leave out a page that takes more memory than this (default: 512)",
    )


def wiki_options(arguments: Namespace) -> WikiOptions:
    """What the options of `wiki` say."""
    from entlink.sources import WikiOptions

    return WikiOptions(
        tuple(arguments.namespace),
        arguments.ids,
        arguments.rules,
        arguments.page_seconds,
        arguments.page_megabytes,
        getattr(arguments, "with_page", False),
        getattr(arguments, "drop_types", None),
    )


def types(parser: Parser) -> None:
    """Keep to some types."""
    parser.add_argument(
        "--type",
        metavar="T",
        action="append",
        default=[],
        type=values.text,
        help="only entities of this type or a kind of it, by id, name or coarse type; can be repeated",
    )


def linking(parser: Parser, *, documents: bool = False) -> None:
    """How to link; with `documents` as of the date of each, too."""
    as_of(parser, or_document=documents)
    types(parser)
    parser.add_argument(
        "--min-score",
        metavar="S",
        type=values.share,
        help="leave out links that score less (default: 0.5 where scores are probabilities; less shows more)",
    )
    parser.add_argument(
        "--config",
        metavar="C",
        help="the stages and their settings: a TOML file, the folder of a saved linker, or one in the box (everyday, "
        "everyday-encoder, characters, characters-encoder, lexical, zero-shot); default: the linker beside the "
        "knowledge base, else everyday-encoder "
        "where its model is there, else everyday",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="let the linker beside the knowledge base load models and stages from outside its folder",
    )
    parser.add_argument(
        "--what",
        choices=("names", "terms", "all"),
        help="which words without a capital may be linked: none, those that are not everyday words (default), or all "
        "but the most common",
    )
    parser.add_argument(
        "--case",
        choices=("exact", "smart", "fold"),
        help="with --config lexical: whether case must be as in the name, always, for acronyms (default), or never",
    )
    parser.add_argument(
        "--min-link-probability",
        metavar="P",
        type=values.share,
        help="with --config lexical: leave alone names that are linked less often in the texts of the knowledge base",
    )
    parser.add_argument(
        "--nil-threshold", metavar="T", type=values.share, help="NIL when the best candidate scores less"
    )
    if documents:
        parser.add_argument(
            "--fetch",
            action="store_true",
            help="fetch pictures that are addresses, for the stages that read pictures; else none is",
        )


def personal(parser: Parser) -> None:
    """Whether personal mentions of conversations are linked."""
    parser.add_argument(
        "--personal",
        action="store_const",
        const=True,
        help="of conversations, also link what speakers call their own (my dog) to what they named",
    )


def saved_linker(parser: Parser) -> None:
    """Which linker to start from, and where to save what becomes of it."""
    parser.add_argument(
        "--config",
        metavar="C",
        help="what to start from: a TOML file, a saved linker, or one in the box (default: the linker beside the "
        "knowledge base, else zero-shot)",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="where to save the linker (default: NAME.linker beside NAME.kb)"
    )


def kb_to_edit(arguments: Namespace) -> KnowledgeBase:
    """The knowledge base that a command changes; its index may be missing, or damaged."""
    from entlink.kb.knowledge_base import KnowledgeBase

    return KnowledgeBase.open(arguments.kb, names=False, wait=getattr(arguments, "wait", False))


def tell_of_unknown_types(kb: str, types: list[str]) -> None:
    """A type that no entity has leaves nothing: most likely it is misspelt."""
    from entlink.kb.info import unknown_types

    for name, near in unknown_types(kb, types).items():
        meant = f"; there is {', '.join(map(repr, near))}" if near else ""
        note(f"no entity has the type {name!r}{meant}")


def note_saved(folder: Path | str) -> None:
    """Where a linker was saved, and what it is for."""
    from entlink.linking.config import finds_mentions, read_config

    use = "" if finds_mentions(read_config(folder)) else ", for given spans: entlink link --mentions given uses it"
    note(f"saved as {folder}{use}")


def make_linker(arguments: Namespace, mentions: str = "detect") -> Linker:
    """The linker that the options of `linking` describe."""
    if arguments.type:
        tell_of_unknown_types(arguments.kb, arguments.type)
    return _linker_as_of(arguments, mentions, arguments.as_of, set())


def make_linker_of_documents(arguments: Namespace, mentions: str) -> Linker | DatedLinker:
    """The same, or with `--as-of document` one that links each document as of its own date."""
    from entlink.linking.as_of import DOCUMENT
    from entlink.linking.dated import DatedLinker

    if arguments.as_of != DOCUMENT:
        return make_linker(arguments, mentions)
    told: set[str] = set()
    return DatedLinker(
        arguments.kb,
        lambda date: _linker_as_of(arguments, mentions, date, told),
        spans_of_gold=mentions == "gold",
    )


def _linker_as_of(arguments: Namespace, mentions: str, as_of: str | None, told: set[str]) -> Linker:
    """The linker as of a date; what it links with is said if it was not `told`."""
    from entlink.linking.linker import load

    folder, settings = linker_settings(arguments, mentions, as_of, told)
    linker: Linker = load(folder, **settings)
    return linker


def linker_settings(
    arguments: Namespace, mentions: str, as_of: str | None, told: set[str]
) -> tuple[Path, dict[str, Any]]:
    """The folder of that linker's knowledge base, and the settings that `entlink.load` takes."""
    import msgspec

    from entlink.linking.as_of import choose_linker

    chosen = choose_linker(
        arguments.kb, as_of, arguments.config, spans_given=mentions != "detect", trust=arguments.trust
    )
    config = chosen.config
    if chosen.told and chosen.told not in told:
        told.add(chosen.told)
        note(f"linking with {chosen.told}")
    detector = {name: value for name in _DETECTOR_SETTINGS if (value := getattr(arguments, name)) is not None}
    _check_detector_settings(arguments, detector, str(config.detector["name"]), mentions)
    nil = {} if arguments.nil_threshold is None else {"threshold": arguments.nil_threshold}
    if "what" in detector and config.nil["name"] == "keep":
        nil["what"] = detector["what"]
    config = msgspec.structs.replace(config, detector={**config.detector, **detector}, nil={**config.nil, **nil})
    if getattr(arguments, "fetch", False):
        config = _fetching(arguments, config)
    _make_short_names(chosen.folder, config)
    return chosen.folder, {
        "config": config,
        "as_of": chosen.date,
        "mentions": None if mentions == "detect" else mentions,
        "types": arguments.type,
        "min_score": arguments.min_score,
        "speakers": getattr(arguments, "turns", ()),
        "personal": getattr(arguments, "personal", None) and (config.conversation.personal or True),
    }


def _fetching(arguments: Namespace, config: LinkerConfig) -> LinkerConfig:
    """The linker with leave to fetch pictures, in every stage that reads them."""
    import msgspec

    if _READ_PICTURES.isdisjoint(stage["name"] for stage in (*config.retriever, *config.evidence, config.ranker)):
        arguments.parser.error(
            "--fetch is of stages that read pictures: the retriever or evidence pictures, or the ranker multimodal. "
            "This linker has none. Name one in --config"
        )
    return msgspec.structs.replace(
        config,
        retriever=[_stage_fetching(stage) for stage in config.retriever],
        evidence=[_stage_fetching(stage) for stage in config.evidence],
        ranker=_stage_fetching(config.ranker),
    )


def _stage_fetching(stage: dict[str, Any]) -> dict[str, Any]:
    return {**stage, "fetch": True} if stage["name"] in _READ_PICTURES else stage


def _make_short_names(kb: Path, config: LinkerConfig) -> None:
    """The index of names cut short where a linker reads it: a knowledge base of an earlier build may lack it."""
    from entlink.kb.indexes.making import make_search_indexes
    from entlink.kb.indexes.short_names import has_short_names
    from entlink_cli.terminal.progress import progress

    if _READ_SHORT_NAMES.isdisjoint(stage["name"] for stage in (config.detector, *config.retriever)):
        return
    if not has_short_names(kb):
        note(f"{kb} was built without an index of names cut short, which is made now, once")
        with progress() as report:
            make_search_indexes(kb, short=True, progress=report)


def _check_detector_settings(arguments: Namespace, given: Iterable[str], detector: str, mentions: str) -> None:
    for name in given:
        option = f"--{name.replace('_', '-')}"
        if mentions != "detect":
            arguments.parser.error(f"{option} does nothing with --mentions {mentions}")
        if _DETECTOR_SETTINGS[name] != detector:
            wanted = "lexical" if _DETECTOR_SETTINGS[name] == "dictionary" else "everyday"
            arguments.parser.error(
                f"{option} is of the detector {_DETECTOR_SETTINGS[name]}, and this linker has {detector}. "
                f"Add --config {wanted}, or leave it out"
            )


def training_settings(parser: Parser, help: str) -> None:
    """`--set`, which changes settings of a training."""
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], type=values.pair, help=help)
