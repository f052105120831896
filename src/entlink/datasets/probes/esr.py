"""ESR, similarity and relatedness: are the descriptions of two entities as near as people find the entities?

Of KORE and WikiSRS. Nothing is learnt, so that all rows are of the test split.
"""

from __future__ import annotations

from entlink.datasets.probes.material import Built, Material
from entlink.formats.probes import ProbeCard, ProbeExample
from entlink.formats.probes.sources import kore
from entlink.formats.public import wikisrs

_RANKS = 20  # the most related entity of a seed has this score, the next one less
_CARDS = {
    "kore": (
        "KORE: which entities are more related to a seed",
        "https://www.mpi-inf.mpg.de/departments/"
        "databases-and-information-systems/research/ambiverse-nlu/aida/downloads",
        "CC BY-SA 3.0",
    ),
    "wikisrs-similarity": (
        "WikiSRS: how similar people find two entities",
        "https://github.com/OSU-slatelab/WikiSRS",
        "not stated by its source",
    ),
    "wikisrs-relatedness": (
        "WikiSRS: how related people find two entities",
        "https://github.com/OSU-slatelab/WikiSRS",
        "not stated by its source",
    ),
}


def build_kore(material: Material) -> Built:
    """A row for each entity of a seed; scores are the ranks of the source, whatever is covered."""
    rows, of = [], 0
    for path in material.sources:
        found = kore.read(path, on_error=material.options.on_error, on_problem=material.problem)
        for ranked in material.counted(path.name, found):
            for rank, name in enumerate(ranked.entities):
                of += 1
                pair = (ranked.seed, name)
                if (row := _row(material, pair, _RANKS - rank, ranked.seed)) is not None:
                    rows.append(row)
    return Built(_card("kore"), {"test": rows}, len(rows), of)


def build_similarity(material: Material) -> Built:
    """A row for each pair of `WikiSRS_similarity.csv`."""
    return _wikisrs(material, "wikisrs-similarity")


def build_relatedness(material: Material) -> Built:
    """A row for each pair of `WikiSRS_relatedness.csv`."""
    return _wikisrs(material, "wikisrs-relatedness")


def _wikisrs(material: Material, name: str) -> Built:
    rows, of = [], 0
    for path in material.sources:
        found = wikisrs.read(path, on_error=material.options.on_error, on_problem=material.problem)
        for pair in material.counted(path.name, found):
            of += 1
            row = _row(material, (pair.first_name, pair.second_name), pair.score)
            if row is not None:
                rows.append(row)
    return Built(_card(name), {"test": rows}, len(rows), of)


def _row(material: Material, names: tuple[str, str], score: float, head: str = "") -> ProbeExample | None:
    first, second = (material.descriptions.of_name(name) for name in names)
    if first is None or second is None:
        material.left_out["pairs with an entity that has no description"] += 1
        return None
    return ProbeExample((first, second), score=float(score), head=head, id=" / ".join(names))


def _card(name: str) -> ProbeCard:
    title, source, licence = _CARDS[name]
    return ProbeCard(
        name=f"esr-{name}",
        title=title,
        family="esr",
        kind="similarity",
        metric="spearman",
        representation="description",
        source=source,
        licence=licence,
        published=name.replace("-", " "),
        notes="Names are matched to entities by title, else by their most likely meaning; no match was corrected by "
        "hand, as those of the paper were. Scored on the covered part.",
    )
