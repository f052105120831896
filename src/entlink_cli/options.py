"""Options that several commands have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import values
from entlink_cli.output import note

if TYPE_CHECKING:
    from argparse import _ArgumentGroup

    from entlink.evaluation.runner import EvaluationOptions
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.linker import Linker
    from entlink.sources import WikiOptions
    from entlink_cli.parsing import Namespace, Parser

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
    "mediawiki",
    "mediawiki-sql",
)
# Those of `entlink.evaluation.conventions`, likewise.
MATCHINGS = ("strict", "weak", "string", "string-without-articles")
NIL_RULES = ("nil-ignored", "nil-required", "nil-errors", "nil-gold-dropped")
_DETECTOR_SETTINGS = ("case", "min_link_probability")


def kb_argument(parser: Parser) -> None:
    parser.add_argument("kb", metavar="NAME.kb", help="the folder of the knowledge base")


def as_json(parser: Parser, what: str = "print JSON") -> None:
    parser.add_argument("--json", action="store_true", help=what)


def as_of(parser: Parser) -> None:
    parser.add_argument("--as-of", metavar="DATE", type=values.date, help="what held on this ISO date, not now")


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
    )


def types(parser: Parser) -> None:
    """Keep to some types."""
    parser.add_argument(
        "--type",
        metavar="T",
        action="append",
        default=[],
        type=values.text,
        help="only entities of this type; can be repeated",
    )


def linking(parser: Parser) -> None:
    """How to link."""
    as_of(parser)
    types(parser)
    parser.add_argument("--min-score", metavar="S", type=values.share, help="leave out links that score less")
    parser.add_argument("--config", metavar="FILE", help="a TOML file with the stages and their settings")
    parser.add_argument(
        "--case",
        choices=("exact", "smart", "fold"),
        help="whether case must be as in the name: always, for acronyms (default), or never",
    )
    parser.add_argument(
        "--min-link-probability",
        metavar="P",
        type=values.share,
        help="leave alone names that are linked less often in the texts of the knowledge base",
    )
    parser.add_argument(
        "--nil-threshold", metavar="T", type=values.share, help="NIL when the best candidate scores less"
    )


def scoring(parser: Parser, predictions: str = "PREDICTIONS") -> None:
    """How to score."""
    parser.add_argument(
        "--match",
        choices=MATCHINGS,
        help="when a mention is at gold's place: strict offsets (default), weak overlap, or the same string in the "
        "same turn (default where there are no offsets)",
    )
    parser.add_argument(
        "--nil",
        choices=NIL_RULES,
        default="nil-ignored",
        help="what becomes of NIL in ED and EL (default: nil-ignored)",
    )
    parser.add_argument("--all-nil-rules", action="store_true", help="score by every rule for NIL, side by side")
    parser.add_argument(
        "--kb", metavar="NAME.kb", help="look identifiers up in this knowledge base, and tell how much gold it knows"
    )
    parser.add_argument("--train", metavar="FILE", help="training data: for what was seen before, and for leaks")
    parser.add_argument(
        "--leaks",
        action="store_true",
        help="look for passages of the test in the knowledge base, too (slow)",
    )
    parser.add_argument(
        "--macro-by",
        metavar="FIELD",
        help="macro scores are means over this field of meta (default: domain, else documents)",
    )
    parser.add_argument(
        "--slice",
        metavar="S",
        action="append",
        help="score this part apart: kb, type, domain, language, overlap, title, popular, seen, meta:FIELD, "
        "gold:FIELD; can be repeated (default: all that can be had)",
    )
    parser.add_argument(
        "--evidence", metavar="NAME", help="the retriever's number among the evidence, for BLINK's columns"
    )
    parser.add_argument(
        "--without",
        metavar="FIELD",
        action="append",
        default=[],
        help="leave out gold with this field in its meta, such as ConEL's personal; can be repeated",
    )
    parser.add_argument(
        "--missing",
        choices=("stop", "empty", "skip"),
        default="stop",
        help="a document that only one side has: stop (default), count it without links, or skip it",
    )
    parser.add_argument("--gold-format", metavar="F", help="format of the gold (default: told from its content)")
    parser.add_argument("--format", metavar="F", help=f"format of {predictions} (default: told from the content)")
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a bad record: stop (default), or leave it out",
    )
    drawing(parser)


def drawing(parser: Parser) -> None:
    """How intervals are drawn."""
    parser.add_argument(
        "--rounds", metavar="N", type=values.weight, default=1000, help="bootstrap resamples (default: 1000; 0: none)"
    )
    parser.add_argument("--level", metavar="P", type=values.level, default=0.95, help="of intervals (default: 0.95)")
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )


def scoring_options(arguments: Namespace) -> EvaluationOptions:
    """What the options of `scoring` say."""
    from entlink.evaluation.conventions import Matching, NilRule
    from entlink.evaluation.runner import EvaluationOptions

    return EvaluationOptions(
        matching=Matching(arguments.match) if arguments.match else None,
        nil=NilRule(arguments.nil),
        rules=tuple(NilRule) if arguments.all_nil_rules else (),
        macro_by=arguments.macro_by,
        slices=tuple(arguments.slice) if arguments.slice else None,
        evidence=arguments.evidence,
        without=tuple(arguments.without),
        missing=arguments.missing,
        leaks=arguments.leaks,
        rounds=arguments.rounds,
        level=arguments.level,
        seed=arguments.seed,
    )


def scoring_kb(arguments: Namespace) -> KnowledgeBase | None:
    """The knowledge base that `scoring` names, opened."""
    if not arguments.kb:
        return None
    from entlink.kb.knowledge_base import KnowledgeBase

    return KnowledgeBase.open(arguments.kb)


def tell_of_unknown_types(kb: str, types: list[str]) -> None:
    """A type that no entity has leaves nothing: most likely it is misspelt."""
    from entlink.kb.info import unknown_types

    for name, near in unknown_types(kb, types).items():
        meant = f"; there is {', '.join(map(repr, near))}" if near else ""
        note(f"no entity has the type {name!r}{meant}")


def make_linker(arguments: Namespace, mentions: str = "detect") -> Linker:
    """The linker that the options of `linking` describe."""
    import msgspec

    from entlink.config import LinkerConfig, read_config
    from entlink.linker import load

    if arguments.type:
        tell_of_unknown_types(arguments.kb, arguments.type)
    config = read_config(arguments.config) if arguments.config else LinkerConfig()
    detector = {name: value for name in _DETECTOR_SETTINGS if (value := getattr(arguments, name)) is not None}
    if detector and mentions == "given":
        arguments.parser.error("--case and --min-link-probability do nothing with --mentions given")
    nil = {} if arguments.nil_threshold is None else {"threshold": arguments.nil_threshold}
    config = msgspec.structs.replace(config, detector={**config.detector, **detector}, nil={**config.nil, **nil})
    return load(
        arguments.kb,
        config=config,
        as_of=arguments.as_of,
        mentions=None if mentions == "detect" else mentions,
        types=arguments.type,
        min_score=arguments.min_score,
    )
