"""Rare, entities that are rare: which of four fills the blank? Of Long et al. 2017, or of documents with gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from entlink.datasets.probes.chance import Sampled, Shares
from entlink.datasets.probes.gold import page_of, read_gold
from entlink.datasets.probes.material import Built, Material
from entlink.datasets.probes.options import Sizes, sizes_by_split
from entlink.datasets.probes.sentences import sentence_of
from entlink.datasets.selection import hash_of
from entlink.documents import Document, Span
from entlink.errors import InputError
from entlink.formats.probes import SPLITS, ProbeCard, ProbeEntity, ProbeExample
from entlink.formats.probes.sources import blanked
from entlink.formats.probes.sources.blanked import BlankedEntity, BlankedText
from entlink.text.titles import without_parenthesis

SIZES: Sizes = (10_000, 4_000, 4_000)  # §3.7
BLANK = "**blank**"
_CANDIDATES = 4
_AROUND = 150  # words kept on each side of a blank
_NOTES = (
    "The mention is the blank, in the row's own entity. A candidate has the same sentence with its name in the place "
    "of the blank, which EntEval encodes."
)
_LONG = ProbeCard(
    name="rare",
    title="Rare entity prediction: which of four entities fills a blank",
    family="ned",
    kind="choice",
    metric="accuracy",
    representation="context-description",
    source="http://dataset.cs.mcgill.ca/downloads/rare_entity_dataset.html",
    licence="not stated by its source",
    published="rare",
    notes=_NOTES,
)
_LINKS = ProbeCard(
    name="rare-links",
    title="Which of four entities that a text links fills a blank",
    family="ned",
    kind="choice",
    metric="accuracy",
    representation="context-description",
    source="documents with gold links",
    licence="of the documents and the knowledge base",
    notes="A variant of Rare: the other three candidates are entities of the same page, as rare as the one that is "
    f"meant. {_NOTES}",
)


class _Blank(NamedTuple):
    """A question: a sentence with a blank in it, the entities to choose among, and the right one."""

    id: str
    before: str
    after: str
    candidates: tuple[ProbeEntity, ...]
    gold: int


def build_long(material: Material) -> Built:
    """Rows of `corpus.txt` and `entities.txt`: of documents with just four entities."""
    entities, texts = _files(material)
    sizes = sizes_by_split(material.options, SIZES)
    shares = Shares(sizes, material.options.seed)
    by_split = {split: Sampled[_Blank](sizes[split]) for split in SPLITS}
    covered = of = 0
    for text in material.counted("paragraphs", texts):
        distinct = sorted(set(text.ids))
        of += len(distinct) > 0
        if len(distinct) != _CANDIDATES:
            material.left_out[f"paragraphs that have not just {_CANDIDATES} entities"] += 1
            continue
        if not all(entities[id].description for id in distinct):
            material.left_out["paragraphs with an entity that has no description"] += 1
            continue
        covered += 1
        name = _named(text)
        split = shares.split(name)
        for blank in _blanks(name, text, entities, material):
            by_split[split].add(material.hash("blank", blank.id), blank)
    return Built(_LONG, {split: _examples(by_split[split].items()) for split in SPLITS}, covered, of)


def _files(material: Material) -> tuple[dict[str, BlankedEntity], Iterator[BlankedText]]:
    tables = [path for path in material.sources if "entities" in path.name]
    corpora = [path for path in material.sources if path not in tables]
    if not tables or not corpora:
        raise InputError("give both files of rare entity prediction: corpus.txt, and one with `entities` in its name")
    reading = {"on_error": material.options.on_error, "on_problem": material.problem}
    entities = {id: one for path in tables for id, one in blanked.read_entities(path, **reading).items()}  # type: ignore[arg-type]
    texts = (text for path in corpora for text in blanked.read_texts(path, entities, **reading))  # type: ignore[arg-type]
    return entities, texts


def _named(text: BlankedText) -> str:
    """A name for a paragraph by its text, so that its line does not matter."""
    parts = [part for pair in zip(text.pieces, text.ids, strict=False) for part in pair]
    return f"{hash_of(0, 'paragraph', ''.join([*parts, text.pieces[-1]])):016x}"


def _blanks(name: str, text: BlankedText, entities: dict[str, BlankedEntity], material: Material) -> Iterator[_Blank]:
    """A question for each entity that the sentence of it names once."""
    names = [entities[id].name for id in text.ids]
    whole, spans = _joined(text.pieces, names)
    for at, span in enumerate(spans):
        sentence, place = sentence_of(whole, span)
        start = span.start - place.start
        inside = [
            id for id, other in zip(text.ids, spans, strict=True) if start <= other.start < start + len(sentence)
        ]
        if inside.count(text.ids[at]) > 1:
            continue
        id = f"{name}#{at}"
        order = sorted(set(text.ids), key=lambda other: material.hash("candidate", f"{id}\0{other}"))
        candidates = tuple(
            ProbeEntity(entity=one, title=entities[one].name, description=_cut(entities[one].description, material))
            for one in order
        )
        yield _Blank(id, sentence[: place.start], sentence[place.end :], candidates, order.index(text.ids[at]))


def _joined(pieces: tuple[str, ...], names: list[str]) -> tuple[str, list[Span]]:
    """The paragraph with names in the place of ids, and where they are."""
    whole, spans = pieces[0], []
    for name, piece in zip(names, pieces[1:], strict=True):
        spans.append(Span(len(whole), len(whole) + len(name)))
        whole += name + piece
    return whole, spans


def _cut(description: str, material: Material) -> str:
    return " ".join(description.split()[: material.options.tokens])


# Documents with gold


def build_links(material: Material) -> Built:
    """Rows of documents with gold: a blank for a mention, with three other entities that its page links."""
    sizes = sizes_by_split(material.options, SIZES)
    shares = Shares(sizes, material.options.seed)
    counts = _mention_counts(material) if material.options.rare else None
    by_split = {split: Sampled[_Blank](sizes[split]) for split in SPLITS}
    covered = of = 0
    for split, page in _pages(material, shares):
        wanted = _entities(page, counts, material.options.rare)
        others = [one for id in wanted if (one := material.descriptions.of_id(id)) is not None]
        for document in page:
            for place, gold in enumerate(document.gold):
                if not gold.entities or gold.entities[0] not in wanted:
                    material.left_out["mentions of entities that are not rare, or of none"] += 1
                    continue
                of += 1
                right = material.descriptions.of_id(gold.entities[0])
                if right is None:
                    material.left_out["mentions of entities without a description"] += 1
                    continue
                covered += 1
                blank = _linked_blank(material, document, place, right, others)
                if blank is not None:
                    by_split[split].add(material.hash("blank", blank.id), blank)
    return Built(_LINKS, {split: _examples(by_split[split].items()) for split in SPLITS}, covered, of)


def _mention_counts(material: Material) -> Counter[str]:
    """How often each entity is mentioned in all documents."""
    found = (gold.entities[0] for _, document in read_gold(material) for gold in document.gold if gold.entities)
    return Counter(found)


def _pages(material: Material, shares: Shares) -> Iterator[tuple[str, list[Document]]]:
    """The documents of a page, which follow each other, with its split."""
    page, split, gathered = "", "", list[Document]()
    for named, document in read_gold(material):
        if page_of(document) != page and gathered:
            yield split, gathered
            gathered = []
        page = page_of(document)
        split = named or shares.split(page)
        gathered.append(document)
    if gathered:
        yield split, gathered


def _entities(page: Iterable[Document], counts: Counter[str] | None, most: int) -> dict[str, None]:
    """The entities that a page mentions, in order; with counts, those that all documents mention so often at most."""
    ids = (gold.entities[0] for document in page for gold in document.gold if gold.entities)
    return dict.fromkeys(id for id in ids if counts is None or counts[id] <= most)


def _linked_blank(
    material: Material, document: Document, place: int, right: ProbeEntity, page: list[ProbeEntity]
) -> _Blank | None:
    gold = document.gold[place]
    sentence, span = sentence_of(document.text, gold.span)
    name = _name(right)
    if sentence.casefold().count(name.casefold()) > 1 or _is_named_elsewhere(sentence, span, name):
        material.left_out["mentions whose sentence names the entity again"] += 1
        return None
    id = f"{document.id}@{gold.span.start}"
    others = sorted(
        (one for one in page if one.entity != right.entity and _name(one).casefold() not in sentence.casefold()),
        key=lambda one: material.hash("other", f"{id}\0{one.entity}"),
    )
    if len(others) < _CANDIDATES - 1:
        material.left_out[f"mentions of pages with fewer than {_CANDIDATES} such entities"] += 1
        return None
    chosen = [right, *others[: _CANDIDATES - 1]]
    chosen.sort(key=lambda one: material.hash("candidate", f"{id}\0{one.entity}"))
    return _Blank(id, sentence[: span.start], sentence[span.end :], tuple(chosen), chosen.index(right))


def _is_named_elsewhere(sentence: str, span: Span, name: str) -> bool:
    rest = f"{sentence[: span.start]} {sentence[span.end :]}"
    return name.casefold() in rest.casefold()


# Rows


def _examples(blanks: list[_Blank]) -> list[ProbeExample]:
    return [_example(blank) for blank in blanks]


def _example(blank: _Blank) -> ProbeExample:
    before, after = _last_words(blank.before), _first_words(blank.after)
    candidates = tuple(_filled(before, _name(one), after, one) for one in blank.candidates)
    return ProbeExample(
        (_filled(before, BLANK, after, ProbeEntity()),), candidates=candidates, gold=blank.gold, id=blank.id
    )


def _filled(before: str, name: str, after: str, entity: ProbeEntity) -> ProbeEntity:
    return ProbeEntity(
        sentence=before + name + after,
        start=len(before),
        end=len(before) + len(name),
        entity=entity.entity,
        title=entity.title,
        description=entity.description,
    )


def _name(entity: ProbeEntity) -> str:
    """What the entity is called in a sentence: its title without what is in parentheses."""
    return without_parenthesis(entity.title) or entity.title


def _last_words(text: str) -> str:
    parts = text.rsplit(maxsplit=_AROUND)
    return text if len(parts) <= _AROUND else text[len(parts[0]) :].lstrip()


def _first_words(text: str) -> str:
    parts = text.split(maxsplit=_AROUND)
    return text if len(parts) <= _AROUND else text[: len(text) - len(parts[-1])].rstrip()
