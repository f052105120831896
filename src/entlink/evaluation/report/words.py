"""What the report's words mean: the same for every report, at its end."""

from __future__ import annotations

from collections.abc import Mapping

from entlink.evaluation.scoring.conventions import GOLD_BY_TITLE, GOLD_BY_TITLE_MEANS, MATCHING_MEANS, NIL_MEANS

TASKS_MEAN: Mapping[str, str] = {
    "MD": (
        "Mention detection: is the span of a mention found? What it means is not asked. “With an entity” "
        "leaves NIL out on both sides."
    ),
    "ED": (
        "Entity disambiguation: is the right entity named in a document, or in a turn of a conversation? Where it "
        "stands, and how often, does not matter."
    ),
    "EL": (
        "Entity linking: is the mention found and its entity right? The strictest of the three, and the one to "
        "quote if only one is."
    ),
}
SCORES_MEAN: Mapping[str, str] = {
    "precision, recall, F1": (
        "The share of answers that are right; the share of gold that is found; the harmonic mean of the two. "
        "From 0 to 1."
    ),
    "micro": (
        "All documents as one: each mention counts the same, so that a document with many mentions counts for much."
    ),
    "macro": (
        "The mean of scores of documents, or of domains where documents have them: each counts the same, "
        "however small. Macro F1 is the mean of F1s."
    ),
    "interval": (
        "Documents are drawn again at random, many times; the score falls within the interval in so many of these "
        "draws. Another sample of such documents could well score anywhere in it."
    ),
    "bold and ≈": (
        "Bold is the best of its column. ≈ marks runs whose interval overlaps the best one's: their order may be "
        "chance. The paired differences tell more, since both runs saw the same documents."
    ),
    "p": (
        "How often a difference as large comes about when the two runs' answers are swapped document by document "
        "at random. Below 0.05 is often called significant; with many runs some will be so by chance."
    ),
    "NIL": (
        "A mention of something that the knowledge base does not have. “Of the right type” also asks for the "
        "type that gold gives it."
    ),
    "accuracy": (
        "Over gold mentions: the share that got the right answer. Of entities: NIL gold left out. With NIL: NIL is "
        "the right answer for NIL."
    ),
    "recall@K, MRR": (
        "How often the right entity is among the first K candidates, and the mean of 1 ÷ its place. A mention that "
        "was not found has no candidates and counts as a miss."
    ),
    "BLINK's columns": (
        "The retriever's own first choice; its recall among K; the accuracy of the final choice where the entity "
        "was among those (normalised); and over all (unnormalised)."
    ),
    "ceiling": (
        "What recall would be if every later stage were perfect. The step from one ceiling to the next is what "
        "the stage between them loses."
    ),
    "slice": ("A part of the gold, scored apart. Few gold links make a wide interval: look at their number first."),
}


def conventions_mean() -> dict[str, str]:
    """Every rule of matching, for NIL and for gold, in a sentence."""
    rules = [*MATCHING_MEANS.items(), *NIL_MEANS.items(), (GOLD_BY_TITLE, GOLD_BY_TITLE_MEANS)]
    return {str(rule): f"{means[0].upper()}{means[1:]}." for rule, means in rules}
