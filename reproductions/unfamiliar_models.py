"""Adapted models beside one that was trained elsewhere: `study unfamiliar-kb` over the subjects of Schools Wikipedia.

    entlink models pull minilm
    python reproductions/schools_adapted.py ../shared/data/schools_wikipedia --folder build/adapted --only unfamiliar
    python reproductions/unfamiliar_models.py ../shared/data --folder build/adapted

Each subject is linked against its own entities, of the knowledge base without links; a paragraph's subject is that of
its article. *Trained elsewhere* is a bi-encoder that learnt from the names in the texts of Simple Wikipedia, for
`--minutes`, and never saw this knowledge base: the setting of paper 1. *Trained here* is the one that `adapt` made,
if it kept one; `adapted` is the whole linker.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path

from simple_adapted import build as build_simple

from entlink.io.progress import ignore_progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.adapt.adapt import AdaptOptions
from entlink.learning.adapt.lessons import BI_ENCODER
from entlink.learning.adapt.settings import config_of_training
from entlink.learning.own_texts.kinds import Proposals
from entlink.learning.own_texts.texts import read_texts
from entlink.learning.pairs.examples import Example
from entlink.learning.train import train
from entlink.linking.config import linker_beside
from entlink.studies.systems import ConfiguredSystem, baselines, model_system
from entlink.studies.unfamiliar.study import UnfamiliarOptions, study_unfamiliar_kb
from entlink.studies.unfamiliar.tables import unfamiliar_lines
from entlink.studies.writing import csv_text

_ENTITIES, _EXAMPLES, _ASIDE = 20_000, 30_000, 400


def trained_elsewhere(data: Path, folder: Path, minutes: float) -> Path:
    """A bi-encoder of Simple Wikipedia's names, trained now unless it is there."""
    model = folder / "elsewhere"
    if (model / "model.json").is_file():
        return model
    with KnowledgeBase.open(build_simple(data, folder)) as kb:
        texts = read_texts(kb, _ENTITIES, 0, ignore_progress)
        names = islice(Proposals(kb, texts, lambda surface, entity: 0, 0).plain(), _EXAMPLES)
        examples = [Example(one.document, one.mention, one.entity or "", ()) for one in names]
        config = config_of_training(AdaptOptions(), links=True)
        train(config, kb, examples[_ASIDE:], examples[:_ASIDE], model, minutes=minutes)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where knowledge bases and linkers are kept")
    parser.add_argument("--minutes", type=float, default=10.0, help="to train elsewhere (default: 10)")
    parser.add_argument("--limit", type=int, help="only the first paragraphs of each subject")
    arguments = parser.parse_args()
    kb = arguments.folder / "unfamiliar.kb"
    linker = linker_beside(kb)
    systems = [
        *baselines(),
        model_system("trained elsewhere", trained_elsewhere(arguments.data, arguments.folder, arguments.minutes)),
        *([model_system("trained here", linker / BI_ENCODER)] if (linker / BI_ENCODER).exists() else []),
        ConfiguredSystem("zero-shot", "zero-shot"),
        ConfiguredSystem("adapted", linker),
    ]
    test = arguments.data / "schools_wikipedia" / "mentions_test.jsonl.xz"
    options = UnfamiliarOptions(by="page", depth=1, limit=arguments.limit)
    study = study_unfamiliar_kb(kb, [test], systems, options)
    sys.stdout.write(csv_text(unfamiliar_lines(study)))


if __name__ == "__main__":
    main()
