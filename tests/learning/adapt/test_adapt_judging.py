"""Which stages of adapting are kept, by how much better or worse the linker is with them."""

from __future__ import annotations

import pytest

from adapt_runs import quiet
from entlink.documents import Candidate, Document, Mention, Span
from entlink.learning.adapt.report import StageFigures
from entlink.learning.adapt.state import AdaptFolder, AdaptOptions, AdaptState
from entlink.learning.adapt.tools import StageTools
from entlink.learning.adapt.weights import Fit, Score
from entlink.learning.own_texts.cases import Case, write_cases
from entlink.linking.config import LinkerConfig

BEFORE = 0.5


@pytest.fixture
def stages(tmp_path) -> StageTools:
    """A linker that is right on half of the cases held back, on so many pages that some hundred are."""
    folder = AdaptFolder(tmp_path / "wiki.linker")
    start = StageFigures("start", after=BEFORE, figures={"balanced": BEFORE})
    folder.write(AdaptState({}, LinkerConfig(), stages=[start]))
    candidates = [Candidate("e", 0.0, {"alias": 1.0}), Candidate("f", 0.0, {"alias": 0.5})]
    mention, document = Mention(Span(2, 6), "word"), Document("a", "a word")
    cases = [Case("short", f"page{page}", document, mention, "e", candidates) for page in range(1_000)]
    write_cases(folder.cases, cases)
    return StageTools(tmp_path / "wiki.kb", AdaptOptions(), folder, folder.read(), quiet)


@pytest.mark.parametrize(
    ("name", "errors", "kept"),
    [
        ("senses", -0.9, True),
        ("senses", -1.1, False),
        ("bi-encoder", 0.1, True),
        ("bi-encoder", -0.1, False),
    ],
)
def test_what_is_known_to_help_may_be_worse_by_chance(stages, name, errors, kept):
    error = (BEFORE * (1 - BEFORE) / len(stages._parts.held_back)) ** 0.5
    after = BEFORE + errors * error
    judged = stages._judged(name, LinkerConfig(), Fit({"alias": 2.0}, 1.0, Score(after, after)), "")
    assert (judged.before, judged.after, judged.kept) == (BEFORE, after, kept)
    assert ("weights" in stages.state.config.ranker) == kept
    assert ("kept with a lower accuracy: 0." in judged.note) == (kept and after < BEFORE)


def test_what_is_lower_but_for_unusual_meanings_is_kept_with_the_reason(stages):
    score = Score(accuracy=BEFORE - 0.1, balanced=BEFORE + 0.1)
    judged = stages._judged("bi-encoder", LinkerConfig(), Fit({"alias": 2.0}, 1.0, score), "20 steps")
    assert judged.kept
    assert judged.note.startswith("20 steps; kept with a lower accuracy: with links of an unusual meaning")
    assert judged.note.endswith("it is 0.500 before and 0.600 after")
