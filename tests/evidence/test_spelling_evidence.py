from __future__ import annotations

import pytest

from entlink.documents import Candidate, Document, Mention, Span
from entlink.evidence.spelling import SpellingEvidence, likeness
from entlink.interfaces import Shortlist
from entlink.testing import check_evidence


def test_both_numbers_are_those_of_the_title():
    candidates = [Candidate("us", 0.5, {}, "United States"), Candidate("u", 0.5, {}, None)]
    shortlist = Shortlist(Document("d", "U.S."), Mention(Span(0, 4), "U.S."), candidates)
    check_evidence(SpellingEvidence(), [shortlist])
    assert SpellingEvidence().gather([shortlist]) == [
        [
            {"spelling": likeness("U.S.", "United States"), "initials": 1.0},
            {"spelling": 0.0, "initials": 0.0},
        ]
    ]


@pytest.mark.parametrize(
    ("surface", "title", "least", "most"),
    [
        ("Sun", "Sun", 1.0, 1.0),
        ("Mercury", "Mercury (planet)", 1.0, 1.0),
        ("Austrian", "Austria", 0.9, 1.0),
        ("Sun", "Venus", 0.0, 0.4),
        ("", "Sun", 0.0, 0.0),
        ("!?", "Sun", 0.0, 0.3),
    ],
)
def test_likeness(surface, title, least, most):
    assert least <= likeness(surface, title) <= most


@pytest.mark.parametrize(
    ("surface", "title", "is_so"),
    [
        ("U.S.", "United States", True),
        ("UK", "United Kingdom", True),
        ("MoMA", "Museum of Modern Art", True),
        ("USA", "United States of America", True),
        ("us", "United States", False),
        ("U", "Utah", False),
        ("US", "Uranium", False),
        ("NY", "New York (state)", True),
        ("12", "1 2", False),
        ("", "", False),
    ],
)
def test_initials(surface, title, is_so):
    mention = Mention(Span(0, len(surface)), surface)
    shortlist = Shortlist(Document("d", surface), mention, [Candidate("e", 0.5, {}, title)])
    assert SpellingEvidence().gather([shortlist])[0][0]["initials"] == is_so
