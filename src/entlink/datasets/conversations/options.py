"""What a set of conversations is made of: every bound of its making, with that of the published set as default."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

import msgspec

from entlink.datasets.conversations.domains import Domain, check_domains
from entlink.datasets.wiki_urls import FANDOM_PATTERNS, WikiUrls
from entlink.errors import InputError, SourceError
from entlink.io.inputs import input_text
from entlink.io.ledger import OnError

BareUrls = Literal["name", "none"]
Characters = Literal["latin", "ascii", "any"]
Pruning = Literal["utterance", "thread"]
Scope = Literal["thread", "conversation", "speaker", "none"]

# What users call a link when they do not name what it leads to; compared without case and signs.
NONSENSE = (
    *(
        "article",
        "click",
        "click here",
        "click me",
        "details",
        "edit",
        "example",
        "fandom",
        "fandom page",
        "from here",
    ),
    *("here", "heres a link", "i", "image", "imgur", "info", "it", "link", "link here", "linked", "links", "list"),
    *("more", "more here", "more info", "more information", "obligatory", "one", "page", "picture", "proof"),
    *("read more", "reference", "relevant", "relevant link", "relevant wiki", "right here", "see", "see here"),
    *("source", "sources", "spoiler", "spoilers", "that", "that one", "the article", "the link", "the page"),
    *("the wiki", "there", "these", "they", "this", "this article", "this guy", "this link", "this one"),
    *("this page", "this thing", "this wiki", "those", "url", "website", "wiki", "wiki article", "wiki entry"),
    *("wiki link", "wiki page", "wikia", "wikia article", "wikia link", "wikia page", "yes", "you"),
)
# Linked once, such a word may mean an entity; elsewhere it means whatever is spoken of there.
UNAUGMENTED = ("he", "her", "him", "his", "its", "she", "their", "them", "we", "who")
SIGNS = ".,;:!?'\"()-/&%$"
_LEAST = {"min_tokens": 0, "min_utterances": 1, "min_annotations": 1, "max_repeats": 1, "max_characters": 1}


class ConversationOptions(msgspec.Struct, frozen=True):
    """How corpora become threads with gold.

    - `domains`: take only subreddits whose name holds one of their titles; without any, all
    - `patterns`: addresses of the wiki's pages (see `WikiUrls`); `languages`: of pages that count, where it is named
    - `bare_urls`: an address without a label marks the `name` of its page in the same utterance, or nothing
    - `characters`: letters that stay: of the Latin script, of ASCII, or of any script; `signs`: other characters
    - `max_repeats`: how often letters, signs or words may follow themselves before they are nonsense
    - `profanity`: words and phrases that prune an utterance; `min_tokens`, `max_tokens`: its length in words;
      `max_characters`: its length as it was written, beyond which it is not looked into
    - `pruned`: what goes with a pruned utterance: itself alone, or every thread it stands in
    - `nonsense`: mentions that name nothing
    - `augment`: where else a mention's text means the same: in the thread, in the conversation, in what its speaker
      says there, or nowhere; `unaugmented`: mentions that are not looked for elsewhere
    - `min_utterances`, `min_annotations`: of a thread
    - `exact_share`: of all threads, those that have a mention that is its entity's title
    - `split_date`: the last day whose conversations are all for training; `test_limit`: the densest threads only
    - `anonymous`: speakers by number instead of by name
    """

    domains: tuple[Domain, ...] = ()
    patterns: tuple[str, ...] = FANDOM_PATTERNS
    languages: tuple[str, ...] = ("en",)
    bare_urls: BareUrls = "name"
    characters: Characters = "latin"
    signs: str = SIGNS
    max_repeats: int = 3
    profanity: tuple[str, ...] = ()
    min_tokens: int = 5
    max_tokens: int = 70
    max_characters: int = 20_000
    pruned: Pruning = "utterance"
    nonsense: tuple[str, ...] = NONSENSE
    augment: Scope = "thread"
    unaugmented: tuple[str, ...] = UNAUGMENTED
    min_utterances: int = 5
    min_annotations: int = 1
    exact_share: float = 0.05
    split_date: str = "2015-01-01"
    test_limit: int | None = None
    anonymous: bool = True
    seed: int = 0
    on_error: OnError = "stop"


def check_options(options: ConversationOptions) -> None:
    """Raises InputError where options do not fit each other or mean nothing."""
    WikiUrls(options.patterns)
    check_domains(options.domains)
    _check_choices(options)
    for name, least in _LEAST.items():
        if (value := getattr(options, name)) < least:
            raise InputError(f"{name} is {value}: it must be a whole number from {least} on")
    if options.min_tokens > options.max_tokens:
        raise InputError(
            f"min_tokens is {options.min_tokens} and max_tokens {options.max_tokens}: no utterance would be left"
        )
    if not 0 <= options.exact_share <= 1:
        raise InputError(f"exact_share is {options.exact_share:g}: it must be a number from 0 to 1")
    if options.test_limit is not None and options.test_limit < 1:
        raise InputError(f"test_limit is {options.test_limit}: it must be a whole number from 1 on")
    last_second(options.split_date)


def _check_choices(options: ConversationOptions) -> None:
    choices = {"bare_urls": BareUrls, "characters": Characters, "pruned": Pruning, "augment": Scope}
    for name, kind in {**choices, "on_error": OnError}.items():
        value, known = getattr(options, name), get_args(kind)
        if value not in known:
            raise InputError(f"{name} is {value!r}: choose among {', '.join(known)}")


def last_second(day: str) -> int:
    """The last second of a day, in UTC, since 1970."""
    try:
        begins = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise InputError(f"split_date is {day!r}: it must be a day, such as 2015-01-01") from None
    return int(begins.timestamp()) + 24 * 60 * 60 - 1


def read_word_list(path: str | Path) -> tuple[str, ...]:
    """The entries of a file in UTF-8, in order and each once; blank lines are left out."""
    words = tuple(dict.fromkeys(line.strip() for line in input_text(path).splitlines() if line.strip()))
    if not words:
        raise SourceError("there is no entry in it", str(path), hint="Write one word or phrase a line")
    return words
