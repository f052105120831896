"""Scores a system's answers on a set: by places and by strings, on all gold and on what the knowledge base has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import tee

import msgspec

from entlink.documents import Document
from entlink.evaluation.aligning import Pair
from entlink.evaluation.identities import Identities
from entlink.evaluation.results import Evaluation
from entlink.evaluation.runner import EvaluationOptions, evaluate, unmarked
from entlink.evaluation.scoring.conventions import GoldMatch, Matching
from entlink.evaluation.scoring.items import gold_items, predicted_items
from entlink.evaluation.scoring.matching import edges
from entlink.evaluation.scoring.slices import is_covered
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.linking.conversation.personal.gold_phrases import PERSONAL
from entlink.studies.conversations.results import ConversationOptions, Scored, SetBlame, Which
from entlink.studies.conversations.sets import ConversationSet

Answers = Callable[[], Iterable[Document]]


def on_covered_gold(pair: Pair, identities: Identities, matching: Matching) -> Pair:
    """A conversation without the gold that the knowledge base lacks, and without the answers on that gold.

    No linker over this knowledge base can be right there, so nothing that stands there counts, for or against. An
    answer that also meets gold which the knowledge base has stays. EL is then that of `nil-gold-dropped`.
    """
    gold, predicted = pair
    lost = [not is_covered(link, identities) for link in identities.gold(gold).gold]
    answers = predicted_items(predicted, gold)
    kept = [
        answer.link
        for answer, met in zip(answers, edges(gold_items(gold), answers, matching), strict=True)
        if not met or not all(lost[number] for number in met)
    ]
    known = [link for link, is_lost in zip(gold.gold, lost, strict=True) if not is_lost]
    return Pair(
        msgspec.structs.replace(gold, gold=tuple(known)), msgspec.structs.replace(predicted, links=tuple(kept))
    )


class SetScorer:
    """Scores answers on one set, as often as it is asked to; `has_covered` says whether there is covered gold."""

    def __init__(
        self,
        data: ConversationSet,
        kb: KnowledgeBase,
        identities: Identities,
        options: ConversationOptions,
        *,
        has_covered: bool = True,
    ) -> None:
        self._data, self._kb, self._identities, self._options = data, kb, identities, options
        self._has_covered = has_covered

    def score(
        self, answers: Answers, matching: Matching, *, as_written: bool = False
    ) -> tuple[list[Scored], SetBlame, list[str]]:
        """Scores on all gold and on what is covered, where gold was lost, and what is to be noted.

        `as_written` compares identifiers as they stand on both sides; else both go through the knowledge base.
        """
        kb = None if as_written else self._kb
        whole = self._evaluate(self._pairs(answers), matching, kb)
        scores = [_scored(whole, "all")]
        if self._has_covered:
            covered = (on_covered_gold(pair, self._identities, matching) for pair in self._pairs(answers))
            scores.append(_scored(self._evaluate(covered, matching, kb), "covered"))
        el = whole.el.micro
        blame = SetBlame(str(matching), el.gold, el.correct, whole.blame.misses, whole.blame.wrong)
        return scores, blame, whole.notes

    def _pairs(self, answers: Answers) -> Iterator[Pair]:
        """Gold and answers. Where personal gold is left out, so are answers that say they are personal."""
        left_out = () if self._options.personal else (PERSONAL,)
        return map(Pair, self._data, unmarked(answers(), left_out))

    def _evaluate(self, pairs: Iterable[Pair], matching: Matching, kb: KnowledgeBase | None) -> Evaluation:
        how = self._options
        options = EvaluationOptions(
            matching=matching,
            match_gold=GoldMatch.IDENTIFIER if kb is None else how.match_gold,
            slices=(),
            rounds=how.rounds,
            level=how.level,
            seed=how.seed,
            examples=0,
        )
        ours, theirs = tee(pairs)  # both sides are read in step, so that little waits between them
        return evaluate((pair.gold for pair in ours), (pair.predicted for pair in theirs), options, kb=kb)


def _scored(found: Evaluation, gold: Which) -> Scored:
    return Scored(found.convention.matching, gold, found.md.micro, found.md_linked.micro, found.el.micro)
