"""Words in a knowledge base's own texts that a linker is sure about: examples that its own guesses make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from time import monotonic
from typing import TYPE_CHECKING

from entlink.learning.self_cases import Case
from entlink.learning.self_kinds import name_like, self_mention
from entlink.learning.self_texts import OwnTexts, Passage, read_texts
from entlink.tuning.self_linking import ranked

if TYPE_CHECKING:
    from entlink.interfaces import Shortlist
    from entlink.linker import Linker
    from entlink.tuning.self_mentions import SelfMention

Progress = Callable[[str, float, float], None]
GUESS = "guess"
_READ = 60_000  # texts of entities
_KEPT = 20  # candidates
_SURE, _AHEAD = 0.5, 1.5  # the score of the best candidate, and by how much its sum is above that of the next
_OF_ONE_SURFACE, _OF_PASSAGE = 60, 2
_LOWER, _SHORTEST_LOWER, _FEWEST_SIGHTINGS, _COMMON = 0.5, 4, 5, 0.03  # how often a word in lower case is asked about
_AT_ONCE = 1_024


def guessed_cases(linker: Linker, asked: int, seed: int, progress: Progress, seconds: float) -> list[Case]:
    """The mentions whose meaning is sure, of so many that are asked about, for so long at most."""
    began = monotonic()
    random = Random(seed)
    texts = read_texts(linker.kb, _READ, seed, progress)
    found = list(_proposed(texts, asked, random))
    cases: list[Case] = []
    for start in range(0, len(found), _AT_ONCE):
        progress("guessing what words mean", start, len(found))
        if monotonic() - began > seconds:
            break
        some = found[start : start + _AT_ONCE]
        for mention, shortlist in zip(some, ranked(linker, some, lambda *_: None), strict=True):
            if _is_sure(shortlist):
                candidates = shortlist.candidates[:_KEPT]
                entity, source = candidates[0].entity, mention.source or ""
                cases.append(Case(GUESS, source, mention.document, mention.mention, entity, candidates))
    return cases


def _is_sure(shortlist: Shortlist) -> bool:
    if not shortlist.candidates or shortlist.candidates[0].score <= _SURE:
        return False
    sums = [one.evidence["sum"] for one in shortlist.candidates[:2]]
    return len(sums) == 1 or sums[0] - sums[1] >= _AHEAD


def _proposed(texts: OwnTexts, asked: int, random: Random) -> Iterator[SelfMention]:
    """Words that are nobody's name, of passages in an order that is drawn."""
    seen: Counter[str] = Counter()
    for number in random.sample(range(len(texts.passages)), len(texts.passages)):
        passage = texts.passages[number]
        for start, end in _spans(passage, texts, random):
            surface = passage.text[start:end]
            if seen[surface] < _OF_ONE_SURFACE:
                seen[surface] += 1
                id = f"{GUESS}{number}.{start}"
                yield self_mention(id, passage.source, passage.text, start, end - start, None)
                asked -= 1
        if asked <= 0:
            return


def _spans(passage: Passage, texts: OwnTexts, random: Random) -> list[tuple[int, int]]:
    """Some runs of capitalised words, and as often as not a word in lower case that is not common."""
    runs = name_like(passage)
    chosen = random.sample(runs, min(_OF_PASSAGE, len(runs)))
    lower = [span for span in passage.words() if _is_telling(passage.text[slice(*span)], texts)]
    if lower and random.random() < _LOWER:
        chosen.append(random.choice(lower))
    return chosen


def _is_telling(word: str, texts: OwnTexts) -> bool:
    if not word.islower() or len(word) < _SHORTEST_LOWER:
        return False
    return texts.frequency[word] >= _FEWEST_SIGHTINGS and texts.share(word) < _COMMON
