"""Counts why gold was lost and why answers are wrong, with examples of both."""

from __future__ import annotations

from collections import Counter

from entlink.documents import Document, GoldLink, Link
from entlink.evaluation.examples import Examples
from entlink.evaluation.identities import Identities
from entlink.evaluation.scoring.blame import STAGE_OF, Cause, cause_of
from entlink.evaluation.scoring.conventions import Convention, is_asked_for
from entlink.evaluation.scoring.document_score import DocumentScore
from entlink.evaluation.scoring.slices import is_covered
from entlink.evaluation.scoring.surroundings import Surroundings

WRONG_ON_NIL = "an entity where gold is NIL"
WRONG_ENTITY = "another entity than gold's"
WRONG_BOUNDARIES = "it overlaps gold, with other boundaries"
WRONG_PLACE = "there is no gold"
WRONG_NIL = "NIL said"
WRONG_AGAIN = "said again what is right once"
_ENOUGH = 2000


class Blamer:
    """Misses by cause, wrong answers by reason. `blamed` is how much gold EL asked for."""

    def __init__(self, convention: Convention, identities: Identities | None, examples: Examples) -> None:
        self._convention, self._identities, self.examples = convention, identities, examples
        self.misses: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.blamed = self.overlapping = self.loosely_right = self._looked_at = 0

    def close(self, *, has_candidates: bool) -> None:
        """No more documents come. Where predictions have candidates, a NIL without any had none to choose from."""
        if has_candidates and (count := self.misses.pop(Cause.UNKNOWN_NIL, 0)):
            self.misses[Cause.CANDIDATES] += count
            self.examples.rename(Cause.UNKNOWN_NIL, Cause.CANDIDATES, STAGE_OF[Cause.CANDIDATES])

    def add(self, document: Document, score: DocumentScore) -> None:
        """Why each gold link that counts was lost, and why each answer that counts is wrong."""
        by_strings = self._convention.matching.is_of_strings
        around = Surroundings(document, score, by_strings=by_strings)
        if not by_strings:
            self.overlapping += around.gold.overlapping()
        links = zip(document.gold, score.answers, score.right, strict=True)
        lost = [(gold, answer) for gold, answer, is_right in links if not is_right]
        self.blamed += len(document.gold)
        if not score.is_plain:
            rule = self._convention.nil
            self.blamed -= [is_asked_for(gold, rule) for gold in document.gold].count(False)
            lost = [(gold, answer) for gold, answer in lost if is_asked_for(gold, rule)]
        shown: dict[str, tuple[GoldLink, Link | None]] = {}
        knows_all = self._identities is None
        for gold, answer in lost:
            overlapped = answer is None and around.has_answer(gold)
            covered = knows_all or is_covered(gold, self._identities)
            cause = cause_of(gold, answer, overlapped=overlapped, is_covered=covered)
            self.misses[cause] += 1
            if answer is not None and self._looked_at < _ENOUGH:
                self._look_closer(gold, answer)
            if cause not in shown:  # one of a cause and document is enough to show
                shown[cause] = gold, answer
        for cause, (gold, answer) in shown.items():
            self.examples.offer(cause, STAGE_OF[cause], document, gold, answer)
        self._blame_answers(document, score, around)

    def _look_closer(self, gold: GoldLink, answer: Link) -> None:
        """Of the first wrong answers, whether only the way an identifier is written is wrong."""
        self._looked_at += 1
        if answer.entity is not None:
            self.loosely_right += _loose(answer.entity) in map(_loose, gold.entities)

    def _blame_answers(self, document: Document, score: DocumentScore, around: Surroundings) -> None:
        near = [around.has_gold(link) for link in score.astray]
        for reason, count in (
            (WRONG_ENTITY, score.confused),
            (WRONG_ON_NIL, len(score.on_nil)),
            (WRONG_NIL, score.nil),
            (WRONG_AGAIN, score.repeated),
            (WRONG_BOUNDARIES, sum(near)),
            (WRONG_PLACE, len(near) - sum(near)),
        ):
            if count:
                self.wrong[reason] += count
        if score.on_nil:
            self.examples.offer(f"wrong: {WRONG_ON_NIL}", "nil", document, None, score.on_nil[0])
        if not all(near):
            self.examples.offer(f"wrong: {WRONG_PLACE}", "detection", document, None, score.astray[near.index(False)])


def _loose(identifier: str) -> str:
    """An identifier without what only the way of writing it makes: underscores, case, the beginning of an address."""
    return identifier.rpartition("/")[2].replace("_", " ").casefold()
