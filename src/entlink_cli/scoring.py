"""The options of scoring that `evaluate`, `compare` and `report` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import values

if TYPE_CHECKING:
    from entlink.evaluation.runner import EvaluationOptions
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink_cli.parsing import Namespace, Parser

# Those of `entlink.evaluation.scoring.conventions`, which help must not wait for.
MATCHINGS = ("strict", "weak", "string", "string-without-articles")
GOLD_MATCHES = ("identifier", "title")
NIL_RULES = ("nil-ignored", "nil-required", "nil-errors", "nil-gold-dropped")


def configure(parser: Parser, predictions: str = "PREDICTIONS") -> None:
    """All of them; `predictions` is what the command calls them."""
    _conventions(parser)
    _beside(parser)
    _parts(parser)
    _reading(parser, predictions)
    _drawing(parser)


def _conventions(parser: Parser) -> None:
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


def _beside(parser: Parser) -> None:
    """What is looked at beside gold and predictions."""
    parser.add_argument(
        "--kb", metavar="NAME.kb", help="look identifiers up in this knowledge base, and tell how much gold it knows"
    )
    match_gold(parser)
    parser.add_argument("--train", metavar="FILE", help="training data: for what was seen before, and for leaks")
    parser.add_argument(
        "--leaks",
        action="store_true",
        help="look for passages of the test in the knowledge base, too (slow)",
    )


def match_gold(parser: Parser) -> None:
    """How gold is looked up in a knowledge base."""
    parser.add_argument(
        "--match-gold",
        choices=GOLD_MATCHES,
        default="identifier",
        help="look gold and predictions up in the knowledge base by identifier (default; gold that it lacks is not "
        "covered), or by title where it lacks the identifier, which may give a namesake",
    )


def _parts(parser: Parser) -> None:
    """What is scored together, apart, or not at all."""
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
        help="leave out gold with this field in its meta, such as ConEL's personal, and links of this type; can be "
        "repeated",
    )


def _reading(parser: Parser, predictions: str) -> None:
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


def _drawing(parser: Parser) -> None:
    """How intervals are drawn."""
    parser.add_argument(
        "--rounds", metavar="N", type=values.weight, default=1000, help="bootstrap resamples (default: 1000; 0: none)"
    )
    parser.add_argument("--level", metavar="P", type=values.level, default=0.95, help="of intervals (default: 0.95)")
    parser.add_argument(
        "--seed", metavar="S", type=values.weight, default=0, help="what chance depends on (default: 0)"
    )


def chosen_options(arguments: Namespace) -> EvaluationOptions:
    """What the options say."""
    from entlink.evaluation.runner import EvaluationOptions
    from entlink.evaluation.scoring.conventions import GoldMatch, Matching, NilRule

    return EvaluationOptions(
        matching=Matching(arguments.match) if arguments.match else None,
        nil=NilRule(arguments.nil),
        match_gold=GoldMatch(arguments.match_gold),
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


def chosen_kb(arguments: Namespace) -> KnowledgeBase | None:
    """The knowledge base that --kb names, opened."""
    if not arguments.kb:
        return None
    from entlink.kb.knowledge_base import KnowledgeBase

    return KnowledgeBase.open(arguments.kb)
