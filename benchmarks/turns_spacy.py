"""A spaCy pipeline with its own EntityLinker over conversations. Runs in the environment of spaCy, not of entlink.

python turns_spacy.py train KB.jsonl TRAINING.jsonl FOLDER    train the pipeline and write it to FOLDER
python turns_spacy.py measure FOLDER TALKS.jsonl WARM         turns a second, as JSON

KB.jsonl has the entities, `{"id", "description"}`, then the names, `{"name", "ids", "priors"}`; the conversations
are documents of entlink. The pipeline is tok2vec, sentencizer, ner and entity_linker, each as spaCy sets it up by
default, on a blank English.
"""

from __future__ import annotations

import json
import random
import sys
import time
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

WIDTH = 64  # of entity vectors
PASSES, BATCH = (
    15,
    4,
)  # over the training texts, and texts in a step: with half as much its tagger finds next to nothing
SENTENCES = 10  # that the linker reads on each side of a mention's own, where it is to see the history
_LABEL = "NAME"

Row = dict[str, Any]


def rows(path: str) -> Iterator[Row]:
    with Path(path).open(encoding="utf8") as lines:
        yield from map(json.loads, lines)


def entity_vector(description: str) -> list[float]:
    """A bag of words hashed into a few places, of unit length: what it says hardly matters for speed."""
    places = [0.0] * WIDTH
    for word in description.lower().split():
        code = zlib.crc32(word.encode())
        places[code % WIDTH] += 1.0 if code & 0x10000 else -1.0
    length = sum(value * value for value in places) ** 0.5
    return [value / length for value in places] if length else [1.0] + [0.0] * (WIDTH - 1)


def lookup(vocab: Any, path: str) -> Any:
    """spaCy's knowledge base, with all entities and names of ours."""
    kb = import_module("spacy.kb").InMemoryLookupKB(vocab, entity_vector_length=WIDTH)
    for row in rows(path):
        if "id" in row:
            kb.add_entity(row["id"], freq=1, entity_vector=entity_vector(row["description"]))
        else:
            kb.add_alias(row["name"], row["ids"], row["priors"])
    return kb


def examples(nlp: Any, path: str) -> list[Any]:
    """The training conversations, whole, with names where gold has them and sentences by punctuation."""
    made = []
    example, sentences = import_module("spacy.training").Example, nlp.get_pipe("sentencizer")
    for row in rows(path):
        document = sentences(nlp.make_doc(row["text"]))
        spans = [
            document.char_span(*place(gold), label=_LABEL, kb_id=gold["entities"][0])
            for gold in row["gold"]  # None where the tokens do not fit
        ]
        # The tagger cannot learn a name with the end of a sentence in it, such as "Yahoo! Answers".
        document.set_ents([span for span in spans if span is not None and len(list(span.sents)) == 1])
        made.append(example(nlp.make_doc(row["text"]), document))
    return made


def place(gold: Row) -> tuple[int, int]:
    return gold["span"]["start"], gold["span"]["end"]


def train(kb: str, training: str, folder: str) -> Any:
    spacy, fix_seed = import_module("spacy"), import_module("spacy.util").fix_random_seed
    fix_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("ner", config={"model": _listening()}).add_label(_LABEL)
    linker = nlp.add_pipe("entity_linker", config={"entity_vector_length": WIDTH})
    lessons = examples(nlp, training)
    linker.set_kb(lambda vocab: lookup(vocab, kb))
    optimizer = nlp.initialize(lambda: lessons)
    chance = random.Random(0)
    for _ in range(PASSES):
        chance.shuffle(lessons)
        for start in range(0, len(lessons), BATCH):
            # The linker learns from the entities that the tagger has found by then.
            nlp.update(lessons[start : start + BATCH], sgd=optimizer, annotates=["sentencizer", "ner"])
    nlp.to_disk(folder)
    return nlp


def _listening() -> Row:
    """ner as spaCy sets it up in `spacy init config`: it shares the pipeline's tok2vec."""
    return {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"},
    }


def timed(nlp: Any, texts: list[str], warm: int) -> Row:
    for text in texts[:warm]:
        nlp(text)
    mentions = 0
    started, worked = time.perf_counter(), time.process_time()
    for text in texts[warm:]:
        mentions += len(nlp(text).ents)
    seconds, processor = time.perf_counter() - started, time.process_time() - worked
    count = len(texts) - warm
    return {"clock": count / seconds, "processor": count / processor, "links": mentions / count}


def measure(folder: str, talks: str, warm: int) -> Row:
    spacy = import_module("spacy")
    nlp = spacy.load(folder)
    found = list(rows(talks))
    whole = [row["text"] for row in found]
    alone = [row["turns"][-1]["text"] for row in found]
    figures = {"version": spacy.__version__, "whole": timed(nlp, whole, warm), "alone": timed(nlp, alone, warm)}
    nlp.get_pipe("entity_linker").n_sents = SENTENCES
    return {**figures, "history": timed(nlp, whole, warm)}


def main() -> None:
    name, *words = sys.argv[1:]
    if name == "train":
        train(*words)
        return
    folder, talks, warm = words
    print(json.dumps(measure(folder, talks, int(warm))))


if __name__ == "__main__":
    main()
