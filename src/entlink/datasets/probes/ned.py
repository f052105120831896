"""NED, disambiguation: which of the entities of that name is meant? Of CoNLL-YAGO, or any documents with gold.

Candidates and their priors are those of a knowledge base's names.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from entlink.datasets.probes.chance import Sampled, Shares
from entlink.datasets.probes.gold import page_of, read_gold
from entlink.datasets.probes.material import Built, Material, mention
from entlink.datasets.probes.options import Sizes, sizes_by_split
from entlink.datasets.probes.sentences import sentence_of
from entlink.documents import Document, GoldLink
from entlink.formats.probes import SPLITS, ProbeCard, ProbeEntity, ProbeExample
from entlink.kb.names.aliases import prior

SIZES: Sizes = (18_538, 4_790, 4_481)  # Table 1
_NOTES = (
    "Candidates and priors are of the names of the knowledge base. A gold entity that is none of them has no prior: "
    "whoever scores gives it 1e-6 and makes the priors add up to 1."
)
_CONLL = ProbeCard(
    name="ned-conll-yago",
    title="Disambiguation of the mentions of CoNLL-YAGO",
    family="ned",
    kind="choice",
    metric="accuracy",
    representation="context-description",
    source="https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida/"
    "downloads",
    licence="CC BY 3.0 without the texts",
    published="conll",
    notes=f"{_NOTES} The paper's are of CrossWikis.",
)
_LINKS = ProbeCard(
    name="ned-links",
    title="Disambiguation of linked mentions among the entities of that name",
    family="ned",
    kind="choice",
    metric="accuracy",
    representation="context-description",
    source="documents with gold links",
    licence="of the documents",
    notes=_NOTES,
)


def build_conll(material: Material) -> Built:
    """Rows of CoNLL-YAGO, its own splits."""
    return _build(material, _CONLL)


def build_links(material: Material) -> Built:
    """Rows of any documents with gold; a page is in one split, where files do not name splits."""
    return _build(material, _LINKS)


def _build(material: Material, card: ProbeCard) -> Built:
    sizes = sizes_by_split(material.options, SIZES)
    shares = Shares(sizes, material.options.seed)
    kept = {split: Sampled[tuple[Document, GoldLink]](sizes[split]) for split in SPLITS}
    covered = of = 0
    for named, document in read_gold(material):
        split = named or shares.split(page_of(document))
        for gold in document.gold:
            if not gold.entities:
                material.left_out["mentions of nothing in a knowledge base"] += 1
                continue
            of += 1
            if _gold(material, gold) is None:
                material.left_out["mentions of entities without a description"] += 1
                continue
            covered += 1
            if material.options.ambiguous and not _is_ambiguous(material, document, gold):
                material.left_out["mentions with one candidate"] += 1
                continue
            kept[split].add(material.hash("row", f"{document.id}\0{gold.span.start}"), (document, gold))
    splits = {split: [_row(material, *one) for one in kept[split].items()] for split in SPLITS}
    return Built(card, splits, covered, of)


def _gold(material: Material, gold: GoldLink) -> ProbeEntity | None:
    return material.descriptions.of_id(gold.entities[0])


def _is_ambiguous(material: Material, document: Document, gold: GoldLink) -> bool:
    surface = document.text[gold.span.start : gold.span.end]
    others = (one for one in _candidates(material, surface) if one != _gold(material, gold))
    return next(others, None) is not None


def _candidates(material: Material, surface: str) -> Iterator[ProbeEntity]:
    return (entity for entity, _ in _with_priors(material, surface))


def _with_priors(material: Material, surface: str) -> Iterator[tuple[ProbeEntity, float]]:
    """The entities of that name that have a description, the likeliest first, at most as many as are wanted."""
    kb = material.kb
    meaning = kb.meaning(surface)
    total = meaning.total
    found = (
        (described, prior(entry.support, total))
        for entry, id, _ in kb.entities_named(meaning)
        if (described := material.descriptions.of_id(id)) is not None
    )
    return islice(found, material.options.candidates)


def _row(material: Material, document: Document, gold: GoldLink) -> ProbeExample:
    sentence, span = sentence_of(document.text, gold.span)
    right = _gold(material, gold)
    assert right is not None  # those without were left out before
    found = list(_with_priors(material, document.text[gold.span.start : gold.span.end]))
    candidates: list[ProbeEntity] = [entity for entity, _ in found]
    priors: list[float | None] = [chance for _, chance in found]
    if right not in candidates:
        if len(candidates) == material.options.candidates:
            candidates.pop(), priors.pop()
        candidates.append(right)
        priors.append(None)
    return ProbeExample(
        (mention(sentence, span),),
        candidates=tuple(candidates),
        priors=tuple(priors),
        gold=candidates.index(right),
        id=document.id,
    )
