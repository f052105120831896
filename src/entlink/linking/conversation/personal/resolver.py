"""Personal mentions of a turn, linked to what their speaker named in it or before."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from entlink.documents import Candidate, Link, Mention, Span
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.conversation.personal.antecedents import Antecedent, choice_rows, kind_words
from entlink.linking.conversation.personal.gold_phrases import PERSONAL
from entlink.linking.conversation.personal.model import PersonalModel, default_model, read_model
from entlink.linking.conversation.personal.phrases import PersonalPhrase, begins_phrase, find_phrases
from entlink.linking.conversation.personal.said import SAID_BEFORE, Said
from entlink.linking.conversation.personal.sums import chosen, shares

MOST_PHRASES = 100  # a turn; who says more than that lists things
_NEAREST = 16  # entities of the turn that are looked at, before a phrase and after it
_SHOWN = 5


class PersonalResolver:
    """Finds the personal phrases of a turn, and links those that mean what their speaker named."""

    def __init__(self, kb: KnowledgeBase, model: PersonalModel | None = None) -> None:
        self.kb, self.model = kb, model or default_model()

    def links(
        self,
        text: str,
        named: Sequence[Link],
        earlier: Sequence[Said] = (),
        turn: int = 0,
        given: Iterable[Span] | None = None,
    ) -> list[Link]:
        """The links of personal phrases in the text of a turn, by their places.

        `named` are the other links of the turn, `earlier` what its speaker named before. Where `given` spans are
        what is to be linked, only those are looked at. A phrase that means nothing of that has no link.
        """
        phrases = find_phrases(text, self.model.ends) if given is None else _given_phrases(text, given)
        options = AntecedentFinder(self.kb, named, earlier, turn)
        found = (
            self._resolved(text, phrase, options)
            for phrase in islice(phrases, MOST_PHRASES)
            if not options.is_named(phrase)
        )
        return [link for link in found if link is not None]

    def _resolved(self, text: str, phrase: PersonalPhrase, options: AntecedentFinder) -> Link | None:
        among = options.of(phrase)
        if not among:
            return None
        rows = choice_rows(text, phrase, among, has_names=options.has_name_in(phrase))
        chances = shares(self.model.choice, rows)
        best, by_entity = chosen([one.entity for one in among], chances)
        if best is None:
            return None
        places: dict[str, int] = {}  # of each entity, where it is likeliest
        for place in sorted(range(len(among)), key=lambda place: -chances[place]):
            places.setdefault(among[place].entity, place)
        candidates = sorted(
            (self._candidate(among[place], by_entity[entity], rows[place]) for entity, place in places.items()),
            key=lambda one: (-one.score, one.entity),
        )[:_SHOWN]
        mention = Mention(phrase.span, phrase.text, PERSONAL)
        return Link(mention, best, by_entity[best], title=candidates[0].title, candidates=tuple(candidates))

    def _candidate(self, one: Antecedent, chance: float, row: Mapping[str, float]) -> Candidate:
        """With what each feature adds to it as its evidence, and how long ago it was said."""
        weights = self.model.choice
        terms = {name: round(weights[name] * value, 4) for name, value in row.items() if name in weights}
        return Candidate(one.entity, chance, {**terms, SAID_BEFORE: float(one.turns_back)}, one.title)


class AntecedentFinder:
    """What the phrases of one turn may mean: what was named in it, and what its speaker named before."""

    def __init__(self, kb: KnowledgeBase, named: Sequence[Link], earlier: Sequence[Said], turn: int) -> None:
        self._kb = kb
        self._named = sorted(named, key=lambda link: (link.mention.span.start, link.mention.span.end))
        self._starts = [link.mention.span.start for link in self._named]
        self._earlier, self._turn = earlier, turn
        self._kinds: dict[str, frozenset[str]] = {}

    def of(self, phrase: PersonalPhrase) -> list[Antecedent]:
        """At most so many as a turn can bear: those next to the phrase, then those said before, last first."""
        at = bisect_left(self._starts, phrase.span.start)
        before = islice(self._linked(range(at - 1, -1, -1), phrase), _NEAREST)
        after = islice(self._linked(range(at, len(self._named)), phrase), _NEAREST)
        here = [self._antecedent(link, 0) for link in (*before, *after)]
        return here + [self._antecedent(said.link, self._turn - said.turn) for said in self._earlier]

    def _linked(self, places: Iterable[int], phrase: PersonalPhrase) -> Iterator[Link]:
        for place in places:
            link = self._named[place]
            if link.entity is not None and not link.mention.span.overlaps(phrase.span):
                yield link

    def _antecedent(self, link: Link, turns_back: int) -> Antecedent:
        assert link.entity is not None
        span = None if turns_back else link.mention.span
        kinds = self._kinds_of(link.entity)
        return Antecedent(link.entity, link.mention.text, turns_back, span, link.title, link.score, kinds)

    def _kinds_of(self, id: str) -> frozenset[str]:
        if id not in self._kinds:
            entity = self._kb.get(id)
            known = frozenset() if entity is None else kind_words(entity.types, entity.description)
            self._kinds[id] = known
        return self._kinds[id]

    def has_name_in(self, phrase: PersonalPhrase) -> bool:
        """Whether a name stands in the phrase itself, as in `my Ford truck`."""
        return any(link.entity is not None for link in self._overlapping(phrase))

    def is_named(self, phrase: PersonalPhrase) -> bool:
        """Whether the possessive is a part of a name, as in `My Fair Lady`: then nothing personal is meant."""
        return any(
            link.entity is not None and link.mention.span.start <= phrase.span.start
            for link in self._overlapping(phrase)
        )

    def _overlapping(self, phrase: PersonalPhrase) -> Iterator[Link]:
        at = bisect_left(self._starts, phrase.span.end)
        for place in range(at - 1, max(-1, at - 1 - 2 * _NEAREST), -1):
            if self._named[place].mention.span.overlaps(phrase.span):
                yield self._named[place]


def _given_phrases(text: str, given: Iterable[Span]) -> Iterator[PersonalPhrase]:
    for span in sorted(given, key=lambda span: (span.start, span.end)):
        if begins_phrase(text, span):
            yield PersonalPhrase(span, text[span.start : span.end])


def make_resolver(kb: KnowledgeBase, personal: bool | str) -> PersonalResolver | None:
    """What `[conversation] personal` asks for: nothing, the weights in the box, or those of a file."""
    if not personal:
        return None
    return PersonalResolver(kb, None if personal is True else read_model(personal))
