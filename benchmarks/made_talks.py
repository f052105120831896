"""Made-up conversations about the entities of a knowledge base, with gold: the same for the same seed.

One speaker asks and tells in phrases of chat, the other answers with what the knowledge base says of an entity.
Half of what they name has a name that others bear too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from entlink.documents import TURN_SEPARATOR, Document, Entity, GoldLink, Span, Turn
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.text.titles import tidy, without_parenthesis

TURNS = 11
_LONGEST_ANSWER = 200  # characters
_TRIES = 200
_ASKED = (
    "Have you ever heard of {}?",
    "I was reading about {} last night, and then about {}.",
    "My brother keeps talking about {}, but I know nothing of it.",
    "What do you think of {}?",
    "I like {} much more than {}, to be honest.",
    "Is there anything like {} where you live?",
    "We learned about {} at school. Do you remember?",
    "That reminds me of {}.",
    "A friend of mine wrote her thesis on {} and {}.",
    "Tell me more about {}, please.",
)
_ANSWERED = (
    "Sure! {}",
    "I looked it up: {}",
    "Not really my thing, but here is what I know. {}",
    "Oh yes. {} Why do you ask?",
    "{} And it has to do with {}, I think.",
)


class Talks:
    """Conversations of eleven turns about what is in a knowledge base."""

    def __init__(self, kb: KnowledgeBase, seed: int = 0) -> None:
        self._kb, self._chance = kb, random.Random(seed)

    def make(self, count: int, name: str = "talk") -> Iterator[Document]:
        """Every other one begins with an answer, so that the last turns are of both kinds."""
        return (self._talk(f"{name}-{number}", asks=number % 2) for number in range(count))

    def _talk(self, id: str, asks: int) -> Document:
        turns: list[Turn] = []
        gold: list[GoldLink] = []
        start = 0
        for number in range(TURNS):
            is_asked = number % 2 == asks
            text, own = self._asked() if is_asked else self._answered()
            gold += [GoldLink(Span(start + span.start, start + span.end), (entity,)) for span, entity in own]
            turns.append(Turn(text, "USER" if is_asked else "SYSTEM"))
            start += len(text) + len(TURN_SEPARATOR)
        return Document(id, TURN_SEPARATOR.join(turn.text for turn in turns), turns=tuple(turns), gold=tuple(gold))

    def _asked(self) -> tuple[str, list[tuple[Span, str]]]:
        return self._filled(self._chance.choice(_ASKED), [])

    def _answered(self) -> tuple[str, list[tuple[Span, str]]]:
        """What a knowledge base says of an entity; its own name is what is linked in it."""
        phrase = self._chance.choice(_ANSWERED)
        for _ in range(_TRIES):
            entity, surface = self._drawn()
            told = _opening(entity)
            if surface in told:
                at = phrase.index("{}") + told.index(surface)
                own = [(Span(at, at + len(surface)), entity.id)]
                return self._filled(phrase.replace("{}", told.replace("{", "(").replace("}", ")"), 1), own)
        return self._asked()

    def _filled(self, phrase: str, own: list[tuple[Span, str]]) -> tuple[str, list[tuple[Span, str]]]:
        while "{}" in phrase:
            entity, surface = self._drawn()
            at = phrase.index("{}")
            own = [*own, (Span(at, at + len(surface)), entity.id)]
            phrase = phrase[:at] + surface + phrase[at + 2 :]
        return phrase, own

    def _drawn(self) -> tuple[Entity, str]:
        """An entity and its name without parentheses; every other time one whose name means several."""
        wants_several = self._chance.random() < 0.5
        found: tuple[Entity, str] | None = None
        for _ in range(_TRIES):
            entity = self._kb.entity(self._chance.randint(1, self._kb.last_key))
            if entity is None or "{" in entity.title:
                continue
            title = tidy(entity.title)
            found = entity, without_parenthesis(title) or title
            if not wants_several or len(self._kb.meaning(found[1]).entries) > 1:
                return found
        if found is None:
            raise SystemExit("the knowledge base has no entities to talk about")
        return found


def _opening(entity: Entity) -> str:
    """The first sentences of a description, or its first characters up to a word's end."""
    text = tidy(entity.description)
    if len(text) <= _LONGEST_ANSWER:
        return text
    cut = text[:_LONGEST_ANSWER]
    end = cut.rfind(". ")
    return cut[: end + 1] if end > 0 else cut.rpartition(" ")[0] + "."
