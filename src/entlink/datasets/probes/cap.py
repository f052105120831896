"""CAP, coreference arcs: do two mentions of one sentence, or of two that follow each other, mean the same?

Of PreCo, or of documents with gold, in which mentions of one entity are taken for coreferent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise, product
from typing import NamedTuple

from entlink.datasets.probes.balance import Balanced, bin_of
from entlink.datasets.probes.chance import Sampled, Shares
from entlink.datasets.probes.gold import page_of, read_gold
from entlink.datasets.probes.material import Built, Material, mention
from entlink.datasets.probes.options import Sizes, sizes_by_split
from entlink.datasets.probes.sentences import sentence_of, sentences
from entlink.documents import Document, Span
from entlink.formats.probes import SPLITS, ProbeCard, ProbeExample
from entlink.formats.probes.sources import preco
from entlink.formats.probes.sources.preco import ClusteredDocument, ClusteredMention, in_order

SIZES: dict[str, Sizes] = {"same": (3982, 3806, 3938), "next": (3982, 3828, 3850)}  # Table 1
LABELS = ("different", "coreferent")
_DOCUMENTS = 1000  # of a split at most: their pairs are many times what is wanted
_WORDS = """
    i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves this that these those who whom whose which what
    one oneself someone somebody something anyone anybody anything everyone everybody everything nobody nothing
"""
_PRONOUNS = frozenset(_WORDS.split())


class Pair(NamedTuple):
    """Two mentions of a document, the first one first."""

    document: ClusteredDocument
    first: ClusteredMention
    second: ClusteredMention

    @property
    def is_coreferent(self) -> bool:
        return self.first.cluster == self.second.cluster


def build_same(material: Material) -> Built:
    """Pairs of one sentence of PreCo."""
    return _build(material, _of_preco(material), _card("same", "PreCo"), distance=0)


def build_next(material: Material) -> Built:
    """Pairs of two sentences of PreCo that follow each other."""
    return _build(material, _of_preco(material), _card("next", "PreCo"), distance=1)


def build_links_same(material: Material) -> Built:
    """Pairs of one sentence of documents with gold."""
    return _build(material, _of_gold(material), _links_card("same"), distance=0)


def build_links_next(material: Material) -> Built:
    """Pairs of two sentences, that follow each other, of documents with gold."""
    return _build(material, _of_gold(material), _links_card("next"), distance=1)


def build_links_across(material: Material) -> Built:
    """Pairs of two pages of documents with gold: authors link an entity once a page, so that few pairs are nearer."""
    sizes = sizes_by_split(material.options, SIZES["same"])
    shares = Shares(sizes, material.options.seed)
    balanced = {split: Balanced[Pair](size) for split, size in sizes.items()}
    groups: dict[tuple[str, str], list[_Linked]] = defaultdict(list)
    for named, document in read_gold(material):
        page = page_of(document)
        split = named or shares.split(page)
        for linked in _linked(page, document):
            words = linked.surface.lower().split()
            for group in (f"entity {linked.entity}", "all", *(f"word {word}" for word in words)):
                groups[split, group].append(linked)
    seen: set[int] = set()
    for (split, _), together in sorted(groups.items()):
        order = sorted(together, key=lambda one: material.hash("mention", f"{one.page}\0{one.sentence}\0{one.span}"))
        for one, other in pairwise(order):
            pair = _across(one, other)
            if one.page != other.page and (chance := _chance(material, pair)) not in seen:
                seen.add(chance)  # two mentions may be neighbours in several groups
                _add(material, pair, balanced[split])
    return Built(_links_card("across"), {split: _rows(material, balanced[split].chosen()) for split in SPLITS})


class _Linked(NamedTuple):
    """A link in its sentence."""

    page: str
    sentence: str
    span: Span
    entity: str

    @property
    def surface(self) -> str:
        return self.sentence[self.span.start : self.span.end]


def _linked(page: str, document: Document) -> Iterator[_Linked]:
    for gold in document.gold:
        if gold.entities:
            yield _Linked(page, *sentence_of(document.text, gold.span), gold.entities[0])


def _across(one: _Linked, other: _Linked) -> Pair:
    first = ClusteredMention(0, one.span, 0)
    second = ClusteredMention(1, other.span, int(one.entity != other.entity))
    pair = ClusteredDocument(f"{one.page} / {other.page}", (one.sentence, other.sentence), (first, second))
    return Pair(pair, first, second)


def _build(
    material: Material, documents: Iterable[tuple[str | None, str, ClusteredDocument]], card: ProbeCard, distance: int
) -> Built:
    which = "next" if distance else "same"
    sizes = sizes_by_split(material.options, SIZES[which])
    kept = {split: Sampled[ClusteredDocument](_DOCUMENTS) for split in SPLITS}
    shares = Shares(sizes, material.options.seed)
    for named, page, document in documents:
        kept[named or shares.split(page)].add(material.hash("document", document.id), document)
    splits, notes = {}, []
    for split in SPLITS:
        balanced = Balanced[Pair](sizes[split])
        for document in material.counted(f"pairs of {split}", kept[split].items(), 50):
            _add_pairs(material, document, distance, balanced)
        chosen = balanced.chosen()
        splits[split] = _rows(material, chosen)
        notes.append(f"{split} has {len(chosen)} bins of similarity")
    return Built(card, splits, notes="; ".join(notes))


# Sources


def _of_preco(material: Material) -> Iterator[tuple[None, str, ClusteredDocument]]:
    for path in material.sources:
        found = preco.read(path, on_error=material.options.on_error, on_problem=material.problem)
        for document in material.counted(path.name, found):
            yield None, document.id, document


def _of_gold(material: Material) -> Iterator[tuple[str | None, str, ClusteredDocument]]:
    for named, document in read_gold(material):
        yield named, page_of(document), clustered(document)


def clustered(document: Document) -> ClusteredDocument:
    """The gold of a document as clusters: what means one entity is coreferent; NIL is left out."""
    spans = list(sentences(document.text))
    numbers: dict[str, int] = {}
    mentions = []
    for gold in document.gold:
        at = next(
            (n for n, one in enumerate(spans) if one.start <= gold.span.start and gold.span.end <= one.end), None
        )
        if at is not None and gold.entities:
            start = spans[at].start
            number = numbers.setdefault(gold.entities[0], len(numbers))
            mentions.append(ClusteredMention(at, Span(gold.span.start - start, gold.span.end - start), number))
    texts = tuple(document.text[span.start : span.end] for span in spans)
    return ClusteredDocument(document.id, texts, in_order(mentions))


# Pairs


def pairs(document: ClusteredDocument, distance: int) -> Iterator[Pair]:
    """The pairs of mentions that are `distance` sentences apart, but for those of two pronouns."""
    by_sentence: dict[int, list[ClusteredMention]] = defaultdict(list)
    for one in document.mentions:
        by_sentence[one.sentence].append(one)
    for sentence, mentions in by_sentence.items():
        both = product(mentions, by_sentence.get(sentence + 1, ())) if distance else combinations(mentions, 2)
        for first, second in both:
            if (distance or first.span != second.span) and not (
                is_pronoun(text_of(document, first)) and is_pronoun(text_of(document, second))
            ):
                yield Pair(document, first, second)


def is_pronoun(text: str) -> bool:
    return text.lower() in _PRONOUNS


def text_of(document: ClusteredDocument, one: ClusteredMention) -> str:
    return document.sentences[one.sentence][one.span.start : one.span.end]


def _add_pairs(material: Material, document: ClusteredDocument, distance: int, balanced: Balanced[Pair]) -> None:
    for pair in pairs(document, distance):
        _add(material, pair, balanced)


def _add(material: Material, pair: Pair, balanced: Balanced[Pair]) -> None:
    names = [text_of(pair.document, each).casefold() for each in (pair.first, pair.second)]
    one, other = map(material.vectors.unit, names)
    cosine = None if one is None or other is None else float(one @ other)
    if names[0] == names[1]:
        cosine = 1.0  # of words without vectors, too
    balanced.add(bin_of(cosine), pair.is_coreferent, _chance(material, pair), pair)


def _chance(material: Material, pair: Pair) -> int:
    places = (pair.first.sentence, *_ends(pair.first), pair.second.sentence, *_ends(pair.second))
    return material.hash("pair", f"{pair.document.id}\0{places}")


def _ends(one: ClusteredMention) -> tuple[int, int]:
    return one.span.start, one.span.end


def _rows(material: Material, chosen: dict[int, tuple[list[Pair], list[Pair]]]) -> list[ProbeExample]:
    """In an order that has nothing to do with bins and classes."""
    found = [pair for both in chosen.values() for side in both for pair in side]
    return [_row(pair) for pair in sorted(found, key=lambda pair: _chance(material, pair))]


def _row(pair: Pair) -> ProbeExample:
    two = (mention(pair.document.sentences[one.sentence], one.span) for one in (pair.first, pair.second))
    return ProbeExample(tuple(two), (LABELS[pair.is_coreferent],), id=pair.document.id)


# Cards


_WHERE = {"same": "one sentence", "next": "two sentences that follow each other", "across": "two pages"}


def _card(which: str, source: str) -> ProbeCard:
    return ProbeCard(
        name=f"cap-{which}",
        title=f"Coreference arcs of {_WHERE[which]}, from {source}",
        family="cap",
        kind="classification",
        metric="accuracy",
        representation="context",
        source="https://preschool-lab.github.io/PreCo/",
        licence="of PreCo: for research",
        published=f"cap {which}",
        notes="No pair is of two pronouns. Both labels are as frequent in each bin of the cosine of the mentions.",
    )


def _links_card(which: str) -> ProbeCard:
    return ProbeCard(
        name=f"cap-links-{which}",
        title=f"Whether two linked mentions of {_WHERE[which]} mean the same entity",
        family="cap",
        kind="classification",
        metric="accuracy",
        representation="context",
        source="documents with gold links",
        licence="of the documents",
        notes="A variant of CAP: mentions are links, and those to one entity are taken for coreferent. No pronoun is "
        "linked. Both labels are as frequent in each bin of the cosine of the mentions.",
    )
