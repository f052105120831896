"""EFP, factuality: does a claim of FEVER hold, as far as an encoder of the entity in it can say?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from entlink.datasets.probes.chance import Sampled, scaled
from entlink.datasets.probes.material import Built, Material, mention
from entlink.datasets.probes.options import Sizes, sizes_by_split
from entlink.documents import Document, Span
from entlink.formats.probes import ProbeCard, ProbeExample
from entlink.formats.public import fever
from entlink.text.titles import spaced, without_parenthesis

SIZES: Sizes = (10_000, 2_000, 2_000)  # §3.3
LABELS = ("SUPPORTS", "REFUTES")
_CARD = ProbeCard(
    name="efp",
    title="Whether claims of FEVER are supported or refuted",
    family="efp",
    kind="classification",
    metric="accuracy",
    representation="statement",
    also=("context",),
    source="https://fever.ai/dataset/fever.html",
    licence="Wikipedia's, or CC BY-SA 3.0",
    published="efp",
    notes="The mention is the title of a page of the evidence, as far as the claim has it, else a name of the "
    "knowledge base; of several, one by chance. The claim is also encoded as a description, which is reported.",
)


def build(material: Material) -> Built:
    """Rows of the claims that are supported or refuted and have a mention."""
    kept = Sampled[ProbeExample](None)
    texts: set[str] = set()
    for path in material.sources:
        found = fever.read(path, on_error=material.options.on_error, on_problem=material.problem)
        for claim in material.counted(path.name, found):
            if claim.meta.get("label") not in LABELS:
                material.left_out["claims without a verdict"] += 1
                continue
            texts.add(claim.text)
            span = chosen_mention(material, claim)
            if span is None:
                material.left_out["claims without a mention"] += 1
                continue
            row = ProbeExample((mention(claim.text, span),), (claim.meta["label"],), id=claim.id)
            kept.add(material.hash("claim", claim.id), row)
    unique = _unique(kept.items())
    material.left_out["claims with the text of another"] += len(kept) - len(unique)
    rows = iter(unique)
    sizes = scaled(sizes_by_split(material.options, SIZES), len(unique))
    splits = {split: list(islice(rows, size)) for split, size in sizes.items()}
    return Built(_CARD, splits, len(unique), len(texts))


def _unique(rows: Iterable[ProbeExample]) -> list[ProbeExample]:
    """The first row of each text: no text is in two splits."""
    found: dict[str, ProbeExample] = {}
    for row in rows:
        found.setdefault(row.entities[0].sentence, row)
    return list(found.values())


def chosen_mention(material: Material, claim: Document) -> Span | None:
    """A page of the evidence that the claim names, else a name of the knowledge base; of several one by chance."""
    spans = sorted(set(titles_in(claim.text, claim.meta.get("pages", ()))), key=lambda one: (one.start, one.end))
    if spans:
        material.facts["claims whose mention is a title of the evidence"] += 1
    elif material.has_kb:
        spans = list(_names_in(material, claim.text))
    return spans[material.hash("mention", claim.id) % len(spans)] if spans else None


def titles_in(text: str, pages: Iterable[str]) -> Iterator[Span]:
    """Where the titles are in a text, as whole words in any case, without what is in parentheses."""
    for page in pages:
        title = spaced(page)
        name = without_parenthesis(title) or title
        match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
        if match is not None and match.end() > match.start():
            yield Span(*match.span())


def _names_in(material: Material, text: str) -> Iterator[Span]:
    """Names of the knowledge base with a capital letter or digit first, none inside another."""
    matches = [Span(*match) for match in material.kb.scanner().matches(text)]
    named = [one for one in matches if text[one.start].isupper() or text[one.start].isdigit()]
    for one in named:
        if not any(other != one and other.start <= one.start and one.end <= other.end for other in named):
            yield one
