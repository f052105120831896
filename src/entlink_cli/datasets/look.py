"""`entlink datasets list`, `info` and `check`: the datasets entlink knows, and what is in yours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, number_of, one_line, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.datasets.catalogue.checking import CheckReport, FileReport
    from entlink.datasets.catalogue.counts import DatasetCounts
    from entlink.datasets.catalogue.dataset_card import Split
    from entlink.formats.public.catalogue import Role
    from entlink_cli.parsing import Namespace, Parser

_PATIENCE = 2.0
_PROBLEMS_SHOWN = 5
_SPLITS_SHOWN = 3
_WIDEST = 88
_UNREADABLE = 3  # as for any input that is wrong
_VERDICTS = {"same": ", as on the card", "other": ", not as on the card", "unknown": "; the card has none"}

# list


def _list(arguments: Namespace) -> None:
    from entlink.datasets.catalogue.catalogue import cards

    found = list(cards().values())
    if arguments.json:
        say_json(found)
        return
    rows = [
        (card.name, card.measures, ", ".join(card.languages), card.licence, _split_names(card.splits))
        for card in found
    ]
    say(*columns([("name", "measures", "language", "licence", "splits"), *rows]))


def _split_names(splits: tuple[Split, ...]) -> str:
    if len(splits) > _SPLITS_SHOWN:
        return f"{len(splits)} splits"
    return ", ".join(split.name for split in splits)


# info


def _configure_info(parser: Parser) -> None:
    parser.add_argument(
        "name", metavar="NAME", type=values.text, help="a dataset, as `entlink datasets list` names it"
    )
    options.as_json(parser)


def _info(arguments: Namespace) -> None:
    from entlink.datasets.catalogue.catalogue import card

    about = card(arguments.name)
    if arguments.json:
        say_json(about)
        return
    fields = [
        ("measures", about.measures),
        ("task", about.task),
        ("language", ", ".join(about.languages)),
        ("licence", about.licence),
        ("source", about.source),
        ("main score", about.main_score),
        ("format", about.reader),
        *_filled("citation", about.citation),
        *_filled("notes", about.notes),
    ]
    say(f"{about.name}: {about.title}", *columns(fields, "  "))
    say("how to get it:", *(f"  {line}" for line in about.how_to_get.strip().splitlines()))
    say("splits:", *columns(map(_split_row, about.splits), "  "))


def _filled(name: str, text: str) -> list[tuple[str, str]]:
    """A field with a longer text, on as many lines as it takes."""
    from textwrap import wrap

    lines = wrap(" ".join(text.split()), _WIDEST, break_long_words=False, break_on_hyphens=False)
    return list(zip([name, *[""] * len(lines)], lines, strict=False))


def _split_row(split: Split) -> tuple[str, ...]:
    records = "" if split.records is None else number_of(split.records, "record")
    gold = "" if split.gold is None else number_of(split.gold, "gold link")
    return split.name, split.file, records, gold, "no checksum" if split.sha256 is None else f"sha256 {split.sha256}"


# check


def _configure_check(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a file, or a folder with the files of a dataset")
    parser.add_argument(
        "--dataset",
        metavar="NAME",
        type=values.text,
        help="look for this dataset only, and say which splits are missing",
    )
    parser.add_argument(
        "--format", metavar="F", type=values.text, help="read the files in this format, whatever they are"
    )
    options.quiet(parser)
    options.as_json(parser)


def _check(arguments: Namespace) -> int:
    from entlink.datasets.catalogue.catalogue import card
    from entlink.datasets.catalogue.checking import check

    asked = None if arguments.dataset is None else card(arguments.dataset)
    with progress(quiet=arguments.quiet, patience=_PATIENCE) as report:
        found = check(arguments.path, asked, format=arguments.format, progress=report)
    if arguments.json:
        say_json({"path": found.path, "readable": found.is_readable, **_as_object(found)})
    elif not arguments.quiet:
        say(*_check_lines(found))
    return 0 if found.is_readable else _UNREADABLE


def _as_object(found: CheckReport) -> dict[str, object]:
    return {"files": found.files, "missing": found.missing, "others": found.others}


def _check_lines(found: CheckReport) -> list[str]:
    lines = [line for file in found.files for line in _file_lines(file)]
    if found.missing:
        names = ", ".join(part.split for part in found.missing)
        lines.append(f"not here of {found.missing[0].dataset}: {names}")
    if found.others:
        lines.append(f"{number_of(found.others, 'other file')} left alone")
    return lines


def _file_lines(file: FileReport) -> list[str]:
    rows = [
        ("dataset", _identity(file)),
        ("records", f"{file.counts.records:,}"),
        (file.role, _links(file.counts, file.role)),
        ("sha256", f"{file.sha256}{_VERDICTS[file.checksum] if file.parts else ''}"),
    ]
    rows += [("warning", warning) for warning in file.warnings]
    if file.bad:
        rows.append(("unreadable", number_of(file.bad, "record")))
    lines = [file.path, *columns(rows, "  ")]
    lines += [f"    {one_line(problem, 400)}" for problem in file.problems[:_PROBLEMS_SHOWN]]
    return lines + (["    …"] if file.bad > _PROBLEMS_SHOWN else [])


def _identity(file: FileReport) -> str:
    """What the file is, and how that is known."""
    if file.told_by == "caller":
        return f"read as {file.format}, as asked"
    if not file.parts:
        return f"none of the catalogue; the format is {file.format}"
    splits: dict[str, list[str]] = {}
    for part in file.parts:
        splits.setdefault(part.dataset, []).append(part.split)
    names = "; ".join(f"{dataset} {', '.join(own)}" for dataset, own in splits.items())
    return f"{names}, known by its {file.told_by}; the format is {file.format}"


def _links(counts: DatasetCounts, role: Role) -> str:
    """What is known of the gold, or of what a linker answered."""
    facts = [
        number_of(counts.gold, "link") + (" of a linker" if role == "links" else ""),
        number_of(counts.entities, "entity", "entities"),
        f"{counts.nil:,} NIL",
        f"{counts.alternatives:,} with alternatives",
        f"{counts.optional:,} optional",
        f"{counts.overlapping:,} overlapping",
    ]
    if counts.links:
        facts.append(f"and {number_of(counts.links, 'link')} of a linker")
    return ", ".join(facts)


COMMANDS = {
    "datasets list": Command(
        _list,
        options.as_json,
        "List the datasets entlink has a card of: what each measures, its language, its licence and its splits.",
        ("entlink datasets list", "entlink datasets list --json"),
    ),
    "datasets info": Command(
        _info,
        _configure_info,
        "Show the card of a dataset: what it measures, licence, source, how to get it, citation, main score, and its "
        "splits with their files and checksums.",
        ("entlink datasets info conel-2", "entlink datasets info oke-2015 --json"),
    ),
    "datasets check": Command(
        _check,
        _configure_check,
        "Tell which dataset and split a file is, or the files of a folder are, by checksum, else by name, else by "
        "format; read every record; count gold links (or those of a linker), NIL and alternatives; and warn of spans "
        "outside their text, ids that stand twice and empty texts. Another checksum than the card's is a warning. A "
        "file that cannot be read is exit code 3.",
        (
            "entlink datasets check samples/article.gold.jsonl",
            "entlink datasets check samples/conversations.jsonl --format jsonl --json",
        ),
    ),
}
