"""A linker for conversations that never saw one: its detector learnt from the links of Schools Wikipedia.

    entlink models pull minilm
    python reproductions/conversation_untrained.py ../shared/data --folder build/conversations
    python reproductions/conversation.py build/conversations/wiki.kb ../shared/data \
        --system untrained=build/conversations/untrained.toml

The knowledge base is that of `conversation_trained.py`. The detector is trained on 3,000 sentences of
`mentions_train.jsonl.xz` that have a link, one a paragraph; weights are those that did best on `mentions_dev`, and
NIL is the default. One number knows of conversations: the detector's threshold, .05, is the best of ten on the gold
spans of ConEL-2 train. Sentences of an encyclopedia are so unlike turns that its own one, .3, would find little.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from conversation_trained import HERE, built

from entlink.documents import Document, GoldLink, Span
from entlink.evaluation.files import File
from entlink.io.progress import ignore_progress
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.learning.detector.training import train_detector

SENTENCES = 3_000
_SHORTEST, _LONGEST = 25, 180  # characters
_END = re.compile(r"(?<=[a-z0-9)][.!?])\s+(?=[A-Z])")


def sentences(documents: Iterable[Document], chance: random.Random) -> Iterator[Document]:
    """A sentence of each paragraph that has some with links."""
    for document in documents:
        ends = [(match.start(), match.end()) for match in _END.finditer(document.text)]
        starts = [0, *(after for _, after in ends)]
        stops = [*(before for before, _ in ends), len(document.text)]
        found = [
            (start, stop, gold)
            for start, stop in zip(starts, stops, strict=True)
            if _SHORTEST <= stop - start <= _LONGEST
            and (gold := [one for one in document.gold if start <= one.span.start and one.span.end <= stop])
        ]
        if found:
            start, stop, gold = chance.choice(found)
            moved = [GoldLink(Span(one.span.start - start, one.span.end - start), one.entities) for one in gold]
            yield Document(document.id, document.text[start:stop], gold=tuple(moved))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--folder", type=Path, required=True, help="where the knowledge base and the detector are kept"
    )
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(0)
    paragraphs = list(File(arguments.data / "schools_wikipedia" / "mentions_train.jsonl.xz", "gold"))
    chance.shuffle(paragraphs)
    chosen = [one for _, one in zip(range(SENTENCES), sentences(paragraphs, chance), strict=False)]
    with KnowledgeBase.open(built(arguments.data, folder)) as kb:
        report = train_detector(kb, chosen, folder / "detector-of-schools", replace=True, progress=ignore_progress)
    shutil.copy(HERE / "conversation_untrained.toml", folder / "untrained.toml")
    sys.stdout.write(json.dumps(msgspec.to_builtins(report)["f1"]) + "\n")


if __name__ == "__main__":
    main()
