"""Table 4 of paper 1 with a knowledge base of ours: linkers on ConEL-2 validation and ConEL-1, beside published runs.

python reproductions/conversation.py NAME.kb [DATA] [--system NAME=CONFIG …] [--csv FILE]

DATA is a folder with conel1 and conel2, default ../shared/data. Without --system, the linker beside NAME.kb is
studied, else zero-shot. The runs that ConEL's authors published are scored in the same run, and must have the
published F1. Gold is matched by title.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from entlink.evaluation import GoldMatch, Matching
from entlink.evaluation.published import find
from entlink.evaluation.results import Micro
from entlink.studies import ConfiguredSystem, ConversationOptions, ConversationStudy, RunSource, study_conversations
from entlink.studies.conversations.results import Scored, SetScores
from entlink.studies.conversations.tables import conversation_lines
from entlink.studies.systems import own_linker
from entlink.studies.writing import csv_text

HERE = Path(__file__).resolve().parent
# The names of the published table, and of the files.
SECOND = {"GENRE": "GENRE", "TagMe": "Tagme", "WAT": "WAT", "REL": "REL", "CREL": "CREL"}
FIRST = {"TagMe": "Tagme", "WAT": "WAT", "REL": "REL"}
# On ConEL-1, REL's run has MD .466 and EL .243, and the table .462 and .245; why is not known.
DIFFERENT = {("REL", "conel1-all")}


def sets(data: Path) -> list[Path]:
    """The conversations with gold."""
    annotations = data / "conel2" / "dataset" / "Conversational_Entity_Linking_Annotations"
    return [annotations / "ConEL22_EL_Val.json", _first(data) / "ConEL_CNE.json"]


def _first(data: Path) -> Path:
    return data / "conel1" / "data" / "ConEL_Concept_Named_Entity"


def runs(data: Path) -> list[RunSource]:
    """What other systems said: on ConEL-2 without personal entities, on ConEL-1 turn by turn."""
    second, first = data / "conel2" / "eval" / "runs" / "Val", _first(data) / "runs"
    return [
        *(RunSource(f"conel2-val:{name}", second / f"{file}-WO-PE.json") for name, file in SECOND.items()),
        *(RunSource(f"conel1-all:{name}", first / f"ConEL_CNE-{file}_turn.json") for name, file in FIRST.items()),
    ]


def rows(study: ConversationStudy) -> Iterator[dict[str, object]]:
    """How gold was matched, then a row for each system, set and convention."""
    yield {"kb": study.facts.kb, "entities": study.facts.entities, "match_gold": str(study.facts.match_gold)}
    for result in study.results:
        if result.why:
            yield {"system": result.system, "set": result.set, "why": result.why}
        for found in result.scores:
            yield {
                "system": result.system,
                "set": result.set,
                "convention": f"{found.matching}, {found.gold} gold",
                "md": _three(found.md),
                "md_without_nil": _three(found.md_linked),
                "el": _three(found.el),
                **_published(study, result, found),
            }
        for blame in result.blame:
            lost = {"gold": blame.gold, "right": blame.right, **blame.misses}
            yield {"system": result.system, "set": result.set, "convention": blame.matching, "lost": lost}


def _three(scores: Micro) -> dict[str, object]:
    found: dict[str, object] = {name: round(getattr(scores, name), 3) for name in ("precision", "recall", "f1")}
    if scores.intervals is not None:
        found["f1_interval"] = [round(scores.intervals.f1.low, 3), round(scores.intervals.f1.high, 3)]
    return found


def _published(study: ConversationStudy, result: SetScores, found: Scored) -> dict[str, float]:
    """The published F1 of a run; it is of all gold, by strings."""
    if result.kind != "run" or (found.matching, found.gold) != (str(Matching.STRING), "all"):
        return {}
    figures = find(study.published, table="4", system=result.system, dataset=result.set)
    return {f"{figure.where['task']}_published": figure.value for figure in figures}


def differing(study: ConversationStudy) -> list[str]:
    """The runs whose F1 is not the published one."""
    found = []
    for result in study.results:
        scored = result.scored(Matching.STRING, "all")
        if scored is None or (result.system, result.set) in DIFFERENT:
            continue
        for task, value in _published(study, result, scored).items():
            if round(scored.task(task.partition("_")[0]).f1, 3) != value:
                found.append(f"{result.system} on {result.set}, {task}")
    return found


def main() -> None:
    """Print the rows; exit with 1 where a run has not the published F1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path, help="the folder of the knowledge base")
    default = HERE.parent.parent / "shared" / "data"
    parser.add_argument("data", type=Path, nargs="?", default=default, help="a folder with conel1 and conel2")
    parser.add_argument("--system", metavar="NAME=CONFIG", action="append", default=[], help="a linker to study")
    parser.add_argument("--csv", type=Path, help="write every figure to this file")
    arguments = parser.parse_args()
    chosen = [tuple(one.split("=", 1)) for one in arguments.system]
    if any(len(one) != 2 or not all(one) for one in chosen):
        parser.error("--system is NAME=CONFIG")
    given = chosen or [own_linker(arguments.kb)]
    systems = [ConfiguredSystem(name, config) for name, config in given]
    # ConEL's gold is titles of Wikipedia, and so are those of the knowledge base; its ids are others.
    options = ConversationOptions(domains=False, match_gold=GoldMatch.TITLE)
    study = study_conversations(arguments.kb, sets(arguments.data), systems, runs(arguments.data), options)
    for row in rows(study):
        sys.stdout.write(json.dumps(row) + "\n")
    if arguments.csv:
        arguments.csv.write_text(csv_text(conversation_lines(study)), encoding="utf8")
    if wrong := differing(study):
        raise SystemExit(f"not the published F1: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
