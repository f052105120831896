"""Examples to read: the mention in its text, what is right and what was said."""

from __future__ import annotations

from collections.abc import Iterator

from entlink.evaluation.report.elements import folded
from entlink.evaluation.report.markup import Html, as_html, tag
from entlink.evaluation.report.runs import Run
from entlink.evaluation.results import Blame, Example

MOST = 8
_WRONG = "wrong: "


def run_examples(run: Run) -> Iterator[Html]:
    """A run's examples, cause by cause, each folded."""
    blame = run.evaluation.blame
    found: dict[str, list[Example]] = {}
    for example in blame.examples:
        found.setdefault(example.cause, []).append(example)
    for cause in sorted(found, key=lambda cause: -_count(blame, cause)):
        shown = found[cause][:MOST]
        title = f"{cause.removeprefix(_WRONG)} — {len(shown):,} of {_count(blame, cause):,}"
        if cause.startswith(_WRONG):
            title = f"wrong answer: {title}"
        yield folded(title, tag("ul", *map(_example, shown), class_="examples"), kind="reading")


def _count(blame: Blame, cause: str) -> int:
    """How many there are of a cause, of which the examples are a few."""
    if cause.startswith(_WRONG):
        return blame.wrong.get(cause.removeprefix(_WRONG), 0)
    return blame.misses.get(cause, 0)


def _example(example: Example) -> Html:
    text = tag("p", example.left, tag("mark", example.mention), example.right, class_="context", dir="auto")
    facts = [tag("span", tag("i", name), " ", value, " ") for name, value in _facts(example).items() if value]
    return tag("li", text, tag("p", *facts, class_="facts"))


def _facts(example: Example) -> dict[str, Html]:
    return {
        "gold": tag("b", " or ".join(example.gold) or "nothing here"),
        "answer": tag("b", _answer(example)),
        "candidates": _candidates(example),
        "document": as_html(example.document),
    }


def _answer(example: Example) -> str:
    if example.predicted is None:
        return "none"
    return example.predicted if example.score is None else f"{example.predicted} ({example.score:.2f})"


def _candidates(example: Example) -> Html:
    """In their order, the right one in bold."""
    shown = [tag("b", one) if one in example.gold else as_html(one) for one in example.candidates]
    return Html(" · ".join(shown))
