"""ET, entity typing: which types does an entity have, as its mention is used in a sentence?

Of Ultra-Fine; or of documents with gold, with the types that a knowledge base gives the entities.
"""

from __future__ import annotations

from collections.abc import Iterator

from entlink.datasets.probes.chance import Sampled, Shares
from entlink.datasets.probes.gold import page_of, read_gold, split_of_file
from entlink.datasets.probes.material import Built, Material, mention
from entlink.datasets.probes.options import Sizes, sizes_by_split
from entlink.datasets.probes.sentences import sentence_of
from entlink.documents import Span
from entlink.errors import SourceError
from entlink.formats.probes import SPLITS, ProbeCard, ProbeExample
from entlink.formats.probes.sources import ultra_fine

SIZES: Sizes = (1998, 1998, 1998)  # Table 1
_SEPARATOR = "."
_ULTRA_FINE = ProbeCard(
    name="et",
    title="Ultra-Fine entity typing",
    family="et",
    kind="typing",
    metric="f1",
    representation="context",
    source="https://www.cs.utexas.edu/~eunsol/html_pages/open_entity.html",
    licence="not stated by its source",
    published="et",
    notes="The splits are those of the source's files.",
)
_LINKS = ProbeCard(
    name="et-links",
    title="The types of linked entities, from their mentions in sentences",
    family="et",
    kind="typing",
    metric="f1",
    representation="context",
    source="documents with gold links, and the types of a knowledge base",
    licence="of the documents and the knowledge base",
    notes="A variant of ET. Types do not depend on the sentence. A type such as A.B gives A as well.",
)


def build_ultra_fine(material: Material) -> Built:
    """Rows of the files of Ultra-Fine, which are named train, dev and test."""
    sizes = sizes_by_split(material.options, SIZES)
    kept = {split: Sampled[ProbeExample](sizes[split]) for split in SPLITS}
    for path in material.sources:
        split = split_of_file(path)
        if split is None:
            hint = "Name the files of Ultra-Fine train.json, dev.json and test.json"
            raise SourceError("its name does not say which split it is", str(path), "", hint)
        found = ultra_fine.read(path, on_error=material.options.on_error, on_problem=material.problem)
        for one in material.counted(path.name, found):
            row = ProbeExample((mention(one.sentence, one.span),), one.types, id=one.id)
            kept[split].add(material.hash("row", one.id), row)
    return Built(_ULTRA_FINE, {split: kept[split].items() for split in SPLITS})


def build_links(material: Material) -> Built:
    """Rows of documents with gold: a page is in one split."""
    sizes = sizes_by_split(material.options, SIZES)
    shares = Shares(sizes, material.options.seed)
    kept = {split: Sampled[ProbeExample](sizes[split]) for split in SPLITS}
    covered = of = 0
    for split, id, sentence, span, entity in _mentions(material, shares):
        of += 1
        types = all_types(material.kb.types(entity))
        if not types:
            material.left_out["mentions of entities without a type"] += 1
            continue
        covered += 1
        row = ProbeExample((mention(sentence, span, entity),), types, id=id)
        kept[split].add(material.hash("row", f"{id}\0{span.start}\0{sentence}"), row)
    return Built(_LINKS, {split: kept[split].items() for split in SPLITS}, covered, of)


def _mentions(material: Material, shares: Shares) -> Iterator[tuple[str, str, str, Span, str]]:
    for named, document in read_gold(material):
        split = named or shares.split(page_of(document))
        for gold in document.gold:
            if not gold.entities:
                material.left_out["mentions of nothing in a knowledge base"] += 1
                continue
            sentence, span = sentence_of(document.text, gold.span)
            yield split, document.id, sentence, span, gold.entities[0]


def all_types(types: tuple[str, ...]) -> tuple[str, ...]:
    """The types and, of those such as `A.B.C`, what they are kinds of: `A` and `A.B`."""
    found: dict[str, None] = {}
    for type in types:
        parts = type.split(_SEPARATOR)
        found.update(dict.fromkeys(_SEPARATOR.join(parts[:size]) for size in range(1, len(parts) + 1)))
    return tuple(sorted(found))
