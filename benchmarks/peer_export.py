"""What wikipedia2vec counted, as JSON lines. Runs in the environment of wikipedia2vec, not in that of entlink.

python peer_export.py DUMP_DB DICTIONARY MENTION_DB OUT.jsonl

A row is a pair of a mention and an entity: `links`, how many links of its dump database are of the pair; `stored`,
how many of them its mention database tells of; `documents`, in how many pages it found the mention.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any


def links(pages: Any, dictionary: Any) -> Counter[tuple[str, str]]:
    """The links to entities of the dictionary, as the mention database normalises them: in lower case."""
    counted: Counter[tuple[str, str]] = Counter()
    for title in pages.titles():
        for paragraph in pages.get_paragraphs(title):
            for link in paragraph.wiki_links:
                entity = dictionary.get_entity(link.title)
                if entity is not None:
                    counted[link.text.lower(), entity.title] += 1
    return counted


def main() -> None:
    dump_db, words, mention_db, out = sys.argv[1:]
    dictionary = import_module("wikipedia2vec.dictionary").Dictionary.load(words)
    mentions = import_module("wikipedia2vec.mention_db").MentionDB.load(mention_db, dictionary)
    stored = {(each.text, each.entity.title): (each.link_count, each.doc_count) for each in mentions}
    with Path(out).open("w", encoding="utf8") as file:
        for pair, count in links(import_module("wikipedia2vec.dump_db").DumpDB(dump_db), dictionary).items():
            kept, documents = stored.get(pair, (0, 0))
            row = {"mention": pair[0], "entity": pair[1], "links": count, "stored": kept, "documents": documents}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
