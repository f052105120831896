"""`entlink explain`: why a span was or was not linked."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import say, write_bytes

if TYPE_CHECKING:
    from entlink.documents import Span
    from entlink.linking.explain import Explanation
    from entlink.linking.linker import Linker
    from entlink_cli.parsing import Namespace, Parser


def _configure(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument("text", metavar="TEXT", type=values.text, help="the text; with -, stdin")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--span", metavar="START:END", type=values.span, help="only the span of these characters")
    part.add_argument("--surface", metavar="S", type=values.text, help="only the spans where this stands")
    options.linking(parser)
    options.as_json(parser)


def _explain(arguments: Namespace) -> None:
    from entlink_cli.terminal.explanations import encode_explanation, explanation_lines

    text = _text(arguments.text)
    spans = _spans(arguments, text)
    explanation = _explanation(options.make_linker(arguments), text, spans)
    if arguments.json:
        write_bytes(encode_explanation(explanation) + b"\n")
    else:
        say(*explanation_lines(explanation))


def _text(given: str) -> str:
    from entlink.io.inputs import input_text

    return input_text(sys.stdin.buffer) if given == "-" else given


def _explanation(linker: Linker, text: str, spans: list[Span]) -> Explanation:
    from entlink.linking.explain import Explanation

    if not spans:
        return linker.explain(text)
    told = [linker.explain(text, span) for span in spans]
    return Explanation(told[0].document, tuple(one for part in told for one in part.spans))


def _spans(arguments: Namespace, text: str) -> list[Span]:
    """The spans asked about; none means all."""
    from entlink.documents import Span
    from entlink.errors import InputError, SpanError

    if arguments.span:
        span = Span(*arguments.span)
        if not 0 <= span.start < span.end <= len(text):
            raise SpanError(f"--span {span.start}:{span.end} does not fit the text of {len(text)} characters")
        return [span]
    if arguments.surface is None:
        return []
    spans = [Span(start, start + len(arguments.surface)) for start in _starts(text, arguments.surface)]
    if not spans:
        raise InputError(f"{arguments.surface!r} does not stand in the text{_other_case(text, arguments.surface)}")
    return spans


def _other_case(text: str, surface: str) -> str:
    """A hint where the surface stands in the text with other capitals."""
    other = re.search(re.escape(surface), text, re.IGNORECASE) if surface else None
    return f", but {other[0]!r} does. Case counts here" if other else ""


def _starts(text: str, surface: str) -> list[int]:
    starts = []
    at = text.find(surface) if surface else -1
    while at >= 0:
        starts.append(at)
        at = text.find(surface, at + len(surface))
    return starts


COMMANDS = {
    "explain": Command(
        _explain,
        _configure,
        "Say of the names in a text, or of one span, why each was linked, became NIL or was left alone, with "
        "the candidates and the evidence for them.",
        (
            "entlink explain shop.kb 'Is the Heron waterproof?'",
            "entlink explain shop.kb 'Is the Heron waterproof?' --surface Heron",
            "entlink explain shop.kb 'Is the Heron waterproof?' --span 13:23 --json",
        ),
    ),
}
