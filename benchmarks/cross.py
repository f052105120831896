"""Scoring pairs of mentions and entities by a cross-encoder, in turns with the same model in torch, in fp32.

The model is MiniLM with a head that nothing was learnt for: speed does not depend on that. A mention stands in the
opening of an entity, and its candidates are what a search by words finds for it.

python benchmarks/cross.py [--mentions 150] [--threads 2]
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import workspace
from entlink.kb.indexes.words.search import WordSearch
from entlink.kb.knowledge_base import KnowledgeBase
from processes import run

MENTIONS, CANDIDATES, ROUNDS, THREADS = 150, 10, 3, 2
MENTION_TOKENS, ENTITY_TOKENS = 48, 40  # as adapt trains it
_FOLDER = workspace.FOLDER / "cross"
_PAIRS = _FOLDER / "pairs.json"
_READ = """
import json, sys, time
import entlink
from entlink.documents import Document, Mention, Span
from entlink.kb.knowledge_base import KnowledgeBase
kb, pairs = KnowledgeBase.open(sys.argv[1]), json.load(open(sys.argv[2]))
folder, threads = sys.argv[3], int(sys.argv[4])
entities = {}
asked = []
for number, (text, start, end, ids) in enumerate(pairs):
    document, mention = Document(str(number), text), Mention(Span(start, end), text[start:end])
    for id in ids:
        if id not in entities:
            entities[id] = kb.get(id)
        asked.append((document, mention, entities[id]))
def told(seconds, worked, scores):
    print(json.dumps({"clock": len(asked) / seconds, "processor": len(asked) / worked, "scores": scores[:200]}))
"""
_OURS = (
    _READ
    + """
from entlink.encoders import load_cross
cross = load_cross(folder, threads=threads)
cross.score(asked[:64])
started, worked = time.perf_counter(), time.process_time()
scores = cross.score(asked)
told(time.perf_counter() - started, time.process_time() - worked, scores)
"""
)
_TORCH = (
    _READ
    + """
import torch
from entlink.encoders.trained.pair_tokens import PairReader
from entlink.learning.base import load_base
from entlink.learning.building import make_network
from entlink.learning.pairs.networks import Rows
from entlink.learning.train_config import read_train_config
torch.set_num_threads(threads)
base = load_base(folder)
config = read_train_config("cross-encoder", json.loads(sys.argv[5]))
network = make_network(config.model, base, 0).eval()
reader = PairReader(base.tokenizer, config.model.pairs)
def score(pairs):
    joint = [reader.joint(reader.mention(d, m), reader.entity(e)) for d, m, e in pairs]
    order = sorted(range(len(joint)), key=lambda at: len(joint[at].ids))
    scores = [0.0] * len(joint)
    for start in range(0, len(order), 32):
        rows = order[start : start + 32]
        longest = max(len(joint[at].ids) for at in rows)
        ids = torch.tensor([joint[at].ids + [0] * (longest - len(joint[at].ids)) for at in rows])
        mask = torch.tensor([[1] * len(joint[at].ids) + [0] * (longest - len(joint[at].ids)) for at in rows])
        places = [torch.tensor([getattr(joint[at], name) for at in rows]) for name in ("first", "last")]
        for at, value in zip(rows, network(Rows(ids, mask, *places)).tolist()):
            scores[at] = value
    return scores
with torch.inference_mode():
    score(asked[:64])
    started, worked = time.perf_counter(), time.process_time()
    scores = score(asked)
    told(time.perf_counter() - started, time.process_time() - worked, scores)
"""
)
_LINK = (
    _READ
    + """
import msgspec
from entlink.linking.config import read_config
from entlink.linking.linker import load
config = read_config("zero-shot")
ranker = {**config.ranker, "cross": folder, "top": 10}
linker = load(sys.argv[1], config=msgspec.structs.replace(config, ranker=ranker), mentions="given")
documents = [
    Document(str(number), text, mentions=(Mention(Span(start, end), text[start:end]),))
    for number, (text, start, end, _) in enumerate(pairs)
]
list(linker.link_all(documents[:32]))
started = time.perf_counter()
list(linker.link_all(documents[32:]))
print(json.dumps({"mentions": (len(documents) - 32) / (time.perf_counter() - started)}))
"""
)


def measure(mentions: int = MENTIONS, threads: int = THREADS) -> dict[str, float]:
    """Print all of it, and return the figures."""
    kb, name = workspace.small_kb()
    model, settings = _model()
    pairs = _write_pairs(kb, mentions)
    words = [str(kb), str(_PAIRS), str(model), str(threads), json.dumps(settings)]
    ours, theirs = [], []
    for _ in range(ROUNDS):  # in turns, so that both meet the machine in the same state
        ours.append(json.loads(run(["-c", _OURS, *words]).output))
        theirs.append(json.loads(run(["-c", _TORCH, *words]).output))
    fast, slow = (max(found, key=lambda one: one["clock"]) for found in (ours, theirs))
    ratio = fast["clock"] / slow["clock"]
    apart = sum(abs(a - b) for a, b in zip(fast["scores"], slow["scores"], strict=True)) / len(fast["scores"])
    print(f"  {name}, {pairs:,} pairs, {threads} threads")
    print(
        f"  cross-encoder in int8          {fast['clock']:8.0f} pairs/s  {fast['processor']:8.0f} a processor second"
    )
    print(
        f"  the same in torch, fp32        {slow['clock']:8.0f} pairs/s  {slow['processor']:8.0f} a processor second"
    )
    print(
        f"  ratio                          {ratio:8.2f}          scores apart by {apart:.4f} on average   target >= 2"
    )
    linked = json.loads(run(["-c", _LINK, *words]).output)["mentions"]
    worth = fast["clock"] / linked
    print(f"  a mention, end to end          {1000 / linked:8.1f} ms       as {worth:.1f} pairs      target <= 25")
    return {"pairs_s": fast["clock"], "torch_pairs_s": slow["clock"], "ratio": ratio, "mention_pairs": worth}


def _model() -> tuple[Path, dict[str, str]]:
    """A cross-encoder as it is before its first step, exported as a trained one is."""
    from entlink.encoders.models.card import CARD
    from entlink.learning.base import load_base
    from entlink.learning.building import make_network
    from entlink.learning.export import export
    from entlink.learning.train_config import read_train_config

    settings = {"model.mention_tokens": str(MENTION_TOKENS), "model.entity_tokens": str(ENTITY_TOKENS)}
    folder = _FOLDER / "model"
    if not (folder / CARD).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        config, base = read_train_config("cross-encoder", settings), load_base("minilm")
        export(folder, make_network(config.model, base, 0), base, config, {}, name="cross-benchmark")
    return folder, settings


def _write_pairs(folder: Path, count: int) -> int:
    """Titles in the openings of entities, drawn by chance, the same every time."""
    chance = random.Random(0)
    found: list[tuple[str, int, int, list[str]]] = []
    with KnowledgeBase.open(folder) as kb:
        search = WordSearch(kb)
        while len(found) < count:
            entity = kb.entity(chance.randint(1, kb.last_key))
            at = entity.description.find(entity.title) if entity and entity.description else -1
            if entity is None or at < 0:
                continue
            keys = [one.key for one in search.search(entity.title, CANDIDATES)]
            ids = [kb.head(key)[0] for key in keys]
            if len(ids) == CANDIDATES:
                found.append((entity.description, at, at + len(entity.title), ids))
    _PAIRS.write_text(json.dumps(found), encoding="utf8")
    return count * CANDIDATES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mentions", type=int, default=MENTIONS, help=f"how many mentions (default: {MENTIONS})")
    parser.add_argument("--threads", type=int, default=THREADS)
    arguments = parser.parse_args()
    measure(arguments.mentions, arguments.threads)


if __name__ == "__main__":
    main()
