"""The datasheet of a set of conversations: what it is for, what is in it, how it was made, and what to mind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from entlink.datasets.conversations.options import ConversationOptions
from entlink.datasets.conversations.report import ConversationsReport, ThreadFile
from entlink.datasets.conversations.statistics import PUBLISHED, ThreadStatistics

_ROWS = (
    ("conversations", "conversations"),
    ("threads", "threads"),
    ("utterances, in all threads", "utterances"),
    ("annotations", "annotations"),
    ("utterances with annotations", "annotated_utterances"),
    ("mean length of a thread", "thread_length"),
    ("different utterances", "distinct_utterances"),
    ("different entities", "entities"),
    ("threads with a mention that is a title", "exact_threads"),
    ("first conversation", "first"),
    ("last conversation", "last"),
)
_UNPUBLISHED = ("distinct_utterances", "entities", "exact_threads", "first", "last")


def datasheet(report: ConversationsReport, options: ConversationOptions) -> str:
    """The datasheet as Markdown. It has no time and no place in it: the same set has the same one."""
    parts = (_purpose(report), _composition(report), _collection(report), _making(report, options), _uses(options))
    return "\n".join(line for part in parts for line in part) + "\n"


def _purpose(report: ConversationsReport) -> Iterator[str]:
    yield from ("# Datasheet: conversations with links to a wiki", "", "## Purpose", "")
    yield (
        "Threads of Reddit in which users linked what they speak of to a wiki. It measures, and can train, entity "
        "linking in conversations, against a knowledge base of one domain. Nobody annotated it for that: its gold is "
        "what users chose to link, so a mention without gold is not one that means nothing."
    )
    yield from (
        "",
        f"Made by entlink {report.entlink}; `card.json` beside this file has the command and all options.",
    )


def _composition(report: ConversationsReport) -> Iterator[str]:
    yield from ("", "## Composition", "")
    yield "A line of JSON is a thread, in entlink's document format: turns, gold, and as meta its conversation."
    yield from ("", *_table(report.files), "")
    yield (
        "`train.jsonl` and `test.jsonl` are split as published: a conversation can have a thread in each. For the "
        "second split take `train.apart.jsonl` with the same `test.jsonl`: no conversation is in both."
    )
    train = report.files[0].statistics
    yield from ("", f"Annotations of `train.jsonl` by where they come from: {_listed(train.annotations_by)}.")
    yield from (
        "",
        f"Its threads by domain: {_listed(train.threads_of)}. The published set is of 2010-04-27 to 2018-10-31.",
    )


def _table(files: Sequence[ThreadFile]) -> Iterator[str]:
    names = [*(f"`{file.name}`" for file in files), "published, train", "published, test"]
    yield f"| | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for title, field in _ROWS:
        cells = [_cell(file.statistics, field) for file in files]
        cells += ["" if field in _UNPUBLISHED else _cell(PUBLISHED[name], field) for name in ("train", "test")]
        yield f"| {title} | {' | '.join(cells)} |"


def _cell(statistics: ThreadStatistics, field: str) -> str:
    value = getattr(statistics, field)
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else value or ""


def _collection(report: ConversationsReport) -> Iterator[str]:
    yield from ("", "## Collection", "", "Corpora of ConvoKit:", "")
    yield from ("| corpus | subreddit | domain | utterances | taken | skipped | SHA-256 |", "|---" * 7 + "|")
    for corpus in report.corpora:
        names = (corpus.name, corpus.subreddit or "", corpus.domain or "")
        counts = (f"{corpus.utterances:,}", f"{corpus.taken:,}", f"{corpus.skipped:,}", f"`{corpus.sha256[:16]}…`")
        yield f"| {' | '.join(_plain(cell) for cell in (*names, *counts))} |"
    if report.other_corpora:
        yield from ("", f"{report.other_corpora:,} more were given whose subreddits are about no domain.")
    yield ""
    yield f"They have {report.conversations:,} conversations, {report.linked:,} with an address of the wiki in them."
    entities = report.kb.manifest.entities
    yield f"Links were looked up in `{report.kb.name}`, {entities:,} entities, SHA-256 `{report.kb.sha256[:16]}…`."


def _making(report: ConversationsReport, options: ConversationOptions) -> Iterator[str]:
    yield from ("", "## Making", "")
    steps = (
        f"Links of users became gold, by label or by the name beside an address: {_listed(report.links)}.",
        f"Addresses, characters other than letters ({options.characters}), digits and `{options.signs}`, and words "
        f"of something said more than {options.max_repeats} times over were taken out.",
        f"Utterances were pruned that were deleted, were profane by a list of {len(options.profanity):,} entries, or "
        f"had fewer than {options.min_tokens} or more than {options.max_tokens} words: {_listed(report.pruned)}.",
        f"Mentions that name nothing were no gold, by a list of {len(options.nonsense):,} entries.",
        f"Unlinked occurrences of a linked text became gold, scope: {options.augment}.",
        f"Threads were left out with fewer than {options.min_utterances} utterances or {options.min_annotations} "
        f"annotations, and those with a mention that is a title beyond {options.exact_share:.0%} of all: "
        f"{_listed(report.threads)}.",
        f"Conversations up to {options.split_date} are for training. Of each later one the thread with most "
        "annotations for its utterances is for testing, and the others are for training.",
    )
    yield from (f"{number}. {step}" for number, step in enumerate(steps, 1))
    yield from ("", f"Replies that hang together with no post: {_listed(report.faults)}.")


def _uses(options: ConversationOptions) -> Iterator[str]:
    yield from ("", "## To mind", "")
    speakers = "by number" if options.anonymous else "by the names they had on Reddit"
    yield from (
        "- Gold is incomplete: a linker that finds more than users linked is not wrong. Precision of detection is a "
        "lower bound.",
        "- An utterance stands in every thread through it, also in several of one file.",
        f"- Speakers are named {speakers}. Texts are as users wrote them and may tell who they are; users may have "
        "deleted theirs since. Do not try to find out who they are.",
        "- Rights in the texts are their authors'; terms of Reddit, of ConvoKit and of the wiki hold. Ask before you "
        "pass the set on.",
        "- Profanity is told by a list alone, and nothing else was taken out that may offend.",
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(_told(counts.items())) or "none"


def _told(items: Iterable[tuple[str, int]]) -> Iterator[str]:
    return (f"{name} {count:,}" for name, count in items)


def _plain(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
