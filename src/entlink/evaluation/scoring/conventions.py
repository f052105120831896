"""How a score is counted, by name: two scores compare only where their conventions are the same."""

from __future__ import annotations

from enum import StrEnum

from entlink.documents import GoldLink, Record


class Matching(StrEnum):
    """When a predicted mention is at the place of a gold one."""

    STRICT = "strict"
    WEAK = "weak"
    STRING = "string"
    STRING_WITHOUT_ARTICLES = "string-without-articles"

    @property
    def is_of_strings(self) -> bool:
        return self in (Matching.STRING, Matching.STRING_WITHOUT_ARTICLES)


class NilRule(StrEnum):
    """What becomes of NIL, gold or predicted, in ED and EL. Mention detection does not ask what a mention means."""

    IGNORED = "nil-ignored"
    REQUIRED = "nil-required"
    ERRORS = "nil-errors"
    DROPPED = "nil-gold-dropped"


class GoldMatch(StrEnum):
    """How gold and predictions are looked up in a knowledge base: by identifiers, or else by titles, too."""

    IDENTIFIER = "identifier"
    TITLE = "title"


def is_asked_for(gold: GoldLink, rule: NilRule) -> bool:
    """Whether EL asks for a gold link: not for an optional one, and for NIL only where the rule wants it."""
    return not gold.optional and (bool(gold.entities) or rule is NilRule.REQUIRED)


MATCHING_MEANS = {
    Matching.STRICT: "a mention counts where both its offsets are those of the gold one",
    Matching.WEAK: "a mention counts where it overlaps the gold one, each at most once",
    Matching.STRING: "sets of (document, turn, mention as written, entity); offsets are not looked at",
    Matching.STRING_WITHOUT_ARTICLES: "as string, with a leading the, a or an taken off both sides",
}
NIL_MEANS = {
    NilRule.IGNORED: "NIL gold and NIL predictions are left out; an entity predicted on NIL gold is an error",
    NilRule.REQUIRED: "NIL is an answer like another: NIL gold must be predicted as NIL",
    NilRule.ERRORS: "NIL gold is left out; each NIL prediction is an error",
    NilRule.DROPPED: "NIL gold, NIL predictions, and whatever is predicted on NIL gold are left out",
}


GOLD_BY_TITLE = "gold by title"
GOLD_BY_TITLE_MEANS = (
    "An identifier that the knowledge base lacks is looked up by title, so that gold may be matched with a namesake"
)


class Convention(Record, frozen=True):
    """A rule of matching, a rule for NIL, and how gold is looked up in a knowledge base."""

    matching: Matching = Matching.STRICT
    nil: NilRule = NilRule.IGNORED
    gold: GoldMatch = GoldMatch.IDENTIFIER

    @property
    def name(self) -> str:
        return f"{self.matching}, {self.nil}" + (f", {GOLD_BY_TITLE}" if self.gold is GoldMatch.TITLE else "")

    def describe(self) -> str:
        """The convention in a sentence each."""
        by_title = f" {GOLD_BY_TITLE_MEANS}." if self.gold is GoldMatch.TITLE else ""
        return f"{MATCHING_MEANS[self.matching]}. {NIL_MEANS[self.nil]}.{by_title}"

    def with_nil(self, rule: NilRule) -> Convention:
        """The same with another rule for NIL."""
        return Convention(self.matching, rule, self.gold)
