"""The scores once more, straight from their definitions: slow, quadratic, and without a line of the real scorer."""

from __future__ import annotations

from entlink.documents import Document, GoldLink, Link
from entlink.evaluation import Matching, NilRule

Triple = tuple[int, int, int]
ARTICLES = ("the", "a", "an")


class Side:
    """A mention of one side: where it stands, how it is written, and what it means."""

    def __init__(self, document: Document, link: GoldLink | Link, frame: Document) -> None:
        span = link.span if isinstance(link, GoldLink) else link.mention.span
        self.link, self.start, self.end = link, span.start, span.end
        self.surface = document.text[span.start : span.end]
        self.turn = 0
        for number, turn in enumerate(frame.turn_spans):
            if span.start >= turn.start:
                self.turn = number
        self.optional = isinstance(link, GoldLink) and link.optional
        self.type = link.nil_type
        self.means = frozenset(link.entities) if isinstance(link, GoldLink) else link.entity

    @property
    def is_nil(self) -> bool:
        return not self.means


def sides(gold: Document, predicted: Document) -> tuple[list[Side], list[Side]]:
    """Gold, and the answers that stand where something was annotated."""
    wanted = [Side(gold, link, gold) for link in gold.gold]
    given = [Side(predicted, link, gold) for link in predicted.links]
    turns, span = gold.meta.get("annotated_turns"), gold.meta.get("evaluation_span")
    if turns is not None:
        given = [one for one in given if one.turn in turns]
    if span is not None:
        given = [one for one in given if span[0] <= one.start and one.end <= span[1]]
    return wanted, given


def written(one: Side, matching: Matching) -> tuple[int, str]:
    words = one.surface.split()
    if matching is Matching.STRING_WITHOUT_ARTICLES and len(words) > 1 and words[0].lower() in ARTICLES:
        return one.turn, " ".join(words[1:])
    return one.turn, one.surface


def meet(one: Side, other: Side, matching: Matching) -> bool:
    if matching is Matching.STRICT:
        return (one.start, one.end) == (other.start, other.end)
    if matching is Matching.WEAK:
        return bool(set(range(one.start, one.end)) & set(range(other.start, other.end)))
    return written(one, matching) == written(other, matching)


def is_right(gold: Side, answer: Side) -> bool:
    return answer.means in gold.means if gold.means else answer.means is None


def most(given: list[Side], wanted: list[Side], fits) -> tuple[int, int]:
    """Of all pairings the best: most required gold, then most optional."""
    if not given:
        return 0, 0
    first, rest = given[0], given[1:]
    best = most(rest, wanted, fits)
    for number, gold in enumerate(wanted):
        if fits(gold, first):
            required, optional = most(rest, wanted[:number] + wanted[number + 1 :], fits)
            found = (required, optional + 1) if gold.optional else (required + 1, optional)
            best = max(best, found)
    return best


def triple(given: list[Side], wanted: list[Side], fits) -> Triple:
    required, excused = most(given, wanted, fits)
    return required, len(given) - excused, sum(not one.optional for one in wanted)


def once(items: list[Side], key) -> list[Side]:
    """One of each key, a required one where there is one."""
    first: dict[object, Side] = {}
    for one in [*(one for one in items if not one.optional), *(one for one in items if one.optional)]:
        first.setdefault(key(one), one)
    return list(first.values())


def is_of_strings(matching: Matching) -> bool:
    return matching in (Matching.STRING, Matching.STRING_WITHOUT_ARTICLES)


def md(wanted: list[Side], given: list[Side], matching: Matching) -> Triple:
    if is_of_strings(matching):
        wanted, given = (once(items, lambda one: written(one, matching)) for items in (wanted, given))
    return triple(given, wanted, lambda gold, one: meet(gold, one, matching))


def md_linked(wanted: list[Side], given: list[Side], matching: Matching) -> Triple:
    return md([one for one in wanted if not one.is_nil], [one for one in given if not one.is_nil], matching)


def counted(
    wanted: list[Side], given: list[Side], matching: Matching, rule: NilRule
) -> tuple[list[Side], list[Side]]:
    """What is left of both sides by a rule for NIL, and as sets for matching by strings."""
    if rule is NilRule.DROPPED:
        met = {id(one): [gold for gold in wanted if meet(gold, one, matching)] for one in given}
        given = [one for one in given if not met[id(one)] or not all(gold.is_nil for gold in met[id(one)])]
    if rule in (NilRule.DROPPED, NilRule.IGNORED):
        given = [one for one in given if not one.is_nil]
    if rule in (NilRule.DROPPED, NilRule.IGNORED, NilRule.ERRORS):
        wanted = [one for one in wanted if not one.is_nil]
    if is_of_strings(matching):
        wanted, given = (once(items, lambda one: (written(one, matching), one.means)) for items in (wanted, given))
    return wanted, given


def el(wanted: list[Side], given: list[Side], matching: Matching, rule: NilRule) -> Triple:
    wanted, given = counted(wanted, given, matching, rule)
    return triple(given, wanted, lambda gold, one: meet(gold, one, matching) and is_right(gold, one))


def ed(wanted: list[Side], given: list[Side], matching: Matching, rule: NilRule) -> Triple:
    """Each member of the answers' set may satisfy one gold link; other gold it satisfies is no further member."""
    wanted, given = counted(wanted, given, matching, rule)
    given = once(given, lambda one: (one.turn, one.means))

    def fits(gold: Side, one: Side) -> bool:
        return gold.turn == one.turn and is_right(gold, one)

    required, excused = most(given, wanted, fits)
    lost = {
        (gold.turn, gold.means) for gold in wanted if not gold.optional and not any(fits(gold, one) for one in given)
    }
    return required, len(given) - excused, required + len(lost)


def nil(wanted: list[Side], given: list[Side], matching: Matching) -> Triple:
    return md([one for one in wanted if one.is_nil], [one for one in given if one.is_nil], matching)


def nil_typed(wanted: list[Side], given: list[Side], matching: Matching) -> Triple:
    """Not for matching by strings."""
    wanted, given = ([one for one in items if one.is_nil] for items in (wanted, given))
    return triple(given, wanted, lambda gold, one: meet(gold, one, matching) and gold.type == one.type)
