"""The runs that ConEL-2's authors published give the F1 they published, by our scorer."""

from __future__ import annotations

from pathlib import Path

import pytest

from entlink.evaluation import EvaluationOptions, Matching, evaluate_files
from entlink.evaluation.published import figures, find_one
from knowledge_bases import SHARED_DATA

FOLDER = SHARED_DATA / "conel2" / "eval"
PUBLISHED = Path(__file__).parents[2] / "reproductions" / "published"
SYSTEMS = {"CREL": "CREL", "Tagme": "TagMe", "WAT": "WAT", "REL": "REL", "GENRE": "GENRE"}
EL = {"CREL": 0.651, "Tagme": 0.478, "WAT": 0.539, "REL": 0.244, "GENRE": 0.252}


@pytest.fixture(scope="module")
def conel() -> Path:
    if not FOLDER.is_dir():
        pytest.skip(f"the real data sets are not at {SHARED_DATA}")
    return FOLDER


def scores(conel: Path, system: str, **options):
    gold, run = conel / "gold" / "Val" / "gold_cne.json", conel / "runs" / "Val" / f"{system}-WO-PE.json"
    return evaluate_files(gold, run, EvaluationOptions(rounds=0, **options))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_published_run_scores_as_published(conel, system):
    found = scores(conel, system)
    published = {
        task: find_one(
            figures(PUBLISHED),
            paper="conversational_el",
            table="4",
            system=SYSTEMS[system],
            dataset="conel2-val",
            task=task,
        ).value
        for task in ("md", "el")
    }
    assert round(found.el.micro.f1, 3) == float(published["el"]) == EL[system]
    assert round(found.md.micro.f1, 3) == float(published["md"])
    assert found.convention.name == "string, nil-ignored"


def test_articles_are_what_wat_loses(conel):
    """Taking off articles is another convention: it lifts WAT by seven points, and the others hardly."""
    without = {
        system: scores(conel, system, matching=Matching.STRING_WITHOUT_ARTICLES).el.micro.f1 for system in SYSTEMS
    }
    assert round(without["WAT"], 3) == 0.608
    assert all(abs(without[system] - EL[system]) < 0.005 for system in SYSTEMS if system != "WAT")


def test_the_dialogues_themselves_are_the_same_gold(conel):
    """The annotated dialogues without personal entities, in place of the list of gold rows."""
    dialogues = conel.parent / "dataset" / "Conversational_Entity_Linking_Annotations" / "ConEL22_EL_Val.json"
    run = conel / "runs" / "Val" / "CREL-WO-PE.json"
    found = evaluate_files(dialogues, run, EvaluationOptions(rounds=0, without=("personal",)))
    assert found.el.micro == scores(conel, "CREL").el.micro
