"""`entlink kb info`, `show`, `search`, `aliases` and `rules`: what is in a knowledge base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.left_out import left_out_rows
from entlink_cli.terminal.output import columns, named, number_of, one_line, say, say_json, size

if TYPE_CHECKING:
    from entlink.kb.info import KnowledgeBaseInfo
    from entlink.kb.names.aliases import Meaning
    from entlink.kb.profile import Profile
    from entlink.kb.store.store import Version
    from entlink_cli.parsing import Namespace, Parser

_NAMES_SHOWN = 20
_PROBLEMS_SHOWN = 10

# info


def _configure_info(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument("--verify", action="store_true", help="check the database and the checksums of all files")
    options.as_json(parser)


def _info(arguments: Namespace) -> None:
    from entlink.kb.info import info
    from entlink.kb.verify import has_checksum, verify

    checked = verify(arguments.kb) if arguments.verify else 0
    about = info(arguments.kb)
    if arguments.json:
        say_json(about)
        return
    say(*_info_lines(about))
    if checked:
        say(f"verified: {number_of(checked, 'file')} are as they were written")
        if not has_checksum(arguments.kb):
            say(
                "  kb.sqlite has no checksum since it was edited: its structure was checked, its entities read. "
                f"`entlink kb index {arguments.kb}` takes a new one"
            )


def _info_lines(about: KnowledgeBaseInfo) -> list[str]:
    links = f"{about.links:,} to entities, {about.links_unresolved:,} to none"
    rows = [
        ("entities", f"{about.entities:,}"),
        ("names", f"{about.names:,}"),
        ("links", links),
        ("texts", f"{about.texts:,}"),
        ("rules", f"{about.rules:,}"),
        ("pending edits", f"{about.pending_edits:,}"),
        ("size", f"{size(about.bytes)}, of which index {size(about.index_bytes)}"),
        ("built", f"{about.built} by entlink {about.entlink}, store version {about.store_version}"),
        ("command", about.command or "-"),
    ]
    if about.search_indexes:
        rows.insert(7, ("search indexes", ", ".join(f"{name} {size(n)}" for name, n in about.search_indexes.items())))
    if about.snapshots:
        from entlink.kb.snapshots.folders import told

        rows.insert(1, ("snapshots", told(about.snapshots)))
    rows[4:4] = left_out_rows(about)
    lines = [about.folder, *columns(rows, "  ")]
    if about.types:
        lines.append(f"{number_of(about.type_count, 'type')}, the most frequent:")
        lines += columns([(name, f"{count:,}") for name, count in about.types.items()], "  ")
    lines.append("built from:")
    for source in about.sources:
        skipped = f", {source.skipped:,} skipped" if source.skipped else ""
        records = f"{number_of(source.records, 'record')}{skipped}"
        lines += [f"  {source.name} ({source.format}, {size(source.bytes)}): {records}"]
        lines += [f"    sha256 {source.sha256}"] if source.sha256 else []
    if about.problems:
        lines.append("what was wrong with those that were skipped:")
        lines += [f"  {problem}" for problem in about.problems[:_PROBLEMS_SHOWN]]
        if len(about.problems) > _PROBLEMS_SHOWN:
            lines.append("  … (the first hundred with --json)")
    return lines


# show


def _configure_show(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument("entity", metavar="ENTITY", type=values.text, help="an id, title or other identifier")
    options.as_of(parser)
    options.as_json(parser)


def _show(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.kb.profile import profile

    with KnowledgeBase.open(arguments.kb, date=arguments.as_of) as kb:
        shown = profile(kb, arguments.entity)
    if arguments.json:
        say_json(shown)
        return
    say(*_entity_lines(shown), *_version_lines(shown.versions), *_name_lines(shown))


def _entity_lines(shown: Profile) -> list[str]:
    entity = shown.entity
    types = [named(name, type) for type, name in shown.type_names.items()]
    external = [f"{scheme}={value}" for scheme, value in entity.external.items()]
    fields = [
        ("description", one_line(entity.description, 1000)),
        ("aliases", ", ".join(entity.aliases)),
        ("coarse type", shown.coarse or ""),
        ("types", ", ".join(types)),
        ("language", entity.language or ""),
        ("created", entity.created or ""),
        ("revised", entity.revised or ""),
        ("images", ", ".join(entity.images)),
        ("external", ", ".join(external)),
    ]
    return [named(entity.title, entity.id), *columns([field for field in fields if field[1]], "  ")]


def _version_lines(versions: list[Version]) -> list[str]:
    if len(versions) < 2 and not any(version.valid_from or version.valid_to for version in versions):
        return []
    rows = [
        (f"{version.valid_from or '…'} to {version.valid_to or '…'}", version.entity.title) for version in versions
    ]
    return ["versions:", *columns(rows, "  ")]


def _name_lines(shown: Profile) -> list[str]:
    rows = [
        (name.name, f"support {name.support:,}", f"P(e|m) {name.probability:.3f}", ", ".join(name.sources))
        for name in shown.names[:_NAMES_SHOWN]
    ]
    more = len(shown.names) - _NAMES_SHOWN
    return ["names:", *columns(rows, "  "), *([f"  and {more:,} more"] if more > 0 else [])]


# search


def _configure_search(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument("text", metavar="TEXT", type=values.text, nargs="?", help="a name, or how it begins")
    parser.add_argument(
        "--picture", metavar="FILE", help="instead of a name: the entities whose pictures are most like this one"
    )
    parser.add_argument("--limit", metavar="N", type=values.whole, default=20, help="at most so many (default: 20)")
    options.types(parser)
    options.as_of(parser)
    options.as_json(parser)


def _search(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.kb.names.search import search

    if (arguments.text is None) == (arguments.picture is None):
        arguments.parser.error("give a TEXT or --picture FILE")
    if arguments.picture is not None:
        _search_pictures(arguments)
        return
    with KnowledgeBase.open(arguments.kb, date=arguments.as_of) as kb:
        found = search(kb, arguments.text, arguments.limit, types=arguments.type)
    options.tell_of_unknown_types(arguments.kb, arguments.type)
    if arguments.json:
        say_json(found)
    elif found:
        rows = [(one.entity, one.title, ", ".join(one.types), f"{one.match}: {one.name}") for one in found]
        say(*columns(rows))
    else:
        say(f"nothing in {arguments.kb} is named like {arguments.text!r}")


def _search_pictures(arguments: Namespace) -> None:
    from entlink.kb.indexes.vectors.pictures import nearest_to
    from entlink.kb.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(arguments.kb, date=arguments.as_of) as kb:
        found = nearest_to(kb, arguments.picture, arguments.limit, arguments.type)
    options.tell_of_unknown_types(arguments.kb, arguments.type)
    if arguments.json:
        say_json([{"entity": one.entity.id, "title": one.entity.title, "cosine": one.cosine} for one in found])
    elif found:
        rows = [(one.entity.id, one.entity.title, f"{one.cosine:.3f}", one.entity.images[0]) for one in found]
        say(*columns(rows))
    else:
        say(f"no entity in {arguments.kb} has a picture")


# aliases


def _configure_aliases(parser: Parser) -> None:
    options.kb_argument(parser)
    parser.add_argument("surface", metavar="SURFACE", type=values.text, help="a name as it stands in a text")
    options.as_of(parser)
    options.as_json(parser)


def _aliases(arguments: Namespace) -> None:
    from entlink.kb.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(arguments.kb, date=arguments.as_of) as kb:
        meaning, names = kb.meaning(arguments.surface), kb.aliases(arguments.surface)
    if arguments.json:
        told = [{**name._asdict(), "tier": name.tier.name.lower()} for name in names]
        say_json(
            {
                "surface": arguments.surface,
                "link_probability": meaning.link_probability(),
                "pinned": meaning.pinned,
                "blocked": meaning.blocked,
                "meanings": told,
            }
        )
        return
    rows = [
        (name.entity, name.title, f"{name.probability:.3f}", f"{name.support:,}", ", ".join(name.sources))
        for name in names
    ]
    if rows:
        say(*columns([("entity", "title", "P(e|m)", "support", "sources"), *rows]))
    say(*_about_surface(arguments.surface, meaning))


def _about_surface(surface: str, meaning: Meaning) -> list[str]:
    if meaning.blocked:
        return [f"{surface!r} is blocked by a rule"]
    if not meaning.entries:
        return [f"{surface!r} names nothing"]
    if meaning.pinned:
        return [f"{surface!r} is pinned by a rule"]
    forms = ", ".join(repr(form) for form in meaning.forms)
    lines = [f"met at the tier {meaning.tier.name.lower()} as {forms}"]
    probability = meaning.link_probability()
    if probability is not None:
        lines.append(f"P(link|m) {probability:.3f}: {meaning.linked:,} linked, {meaning.unlinked:,} not")
    return lines


# rules


def _configure_rules(parser: Parser) -> None:
    options.kb_argument(parser)
    options.as_json(parser)


def _rules(arguments: Namespace) -> None:
    from entlink.kb.store.rules import rules

    found = rules(arguments.kb)
    if arguments.json:
        say_json(found)
        return
    rows = [
        (
            "block" if rule.entity is None else "pin",
            rule.surface,
            "as written" if rule.case_sensitive else "any case",
            "" if rule.entity is None else named(rule.title or rule.entity, rule.entity),
        )
        for rule in found
    ]
    say(*columns(rows) or ["no pins and no blocks"])


COMMANDS = {
    "kb info": Command(
        _info,
        _configure_info,
        "Count what is in a knowledge base, and say what it was built from.",
        ("entlink kb info shop.kb", "entlink kb info shop.kb --verify --json"),
    ),
    "kb show": Command(
        _show,
        _configure_show,
        "Show an entity: all its fields, its dated versions, and its names with the counts behind them.",
        ("entlink kb show shop.kb P-101", "entlink kb show shop.kb 'Heron Kettle' --as-of 2020-05-01 --json"),
    ),
    "kb search": Command(
        _search,
        _configure_search,
        "Find entities: those with this identifier or name, then those with a name that begins so, then those "
        "with a name spelt almost so.",
        ("entlink kb search shop.kb heron", "entlink kb search shop.kb 'hero ketle' --type kitchen --limit 5"),
    ),
    "kb aliases": Command(
        _aliases,
        _configure_aliases,
        "Show what a name may mean: for each entity P(e|m), the count behind it and where the name comes from; "
        "and P(link|m), how often the name is linked where it stands in the texts.",
        ("entlink kb aliases shop.kb Heron", "entlink kb aliases shop.kb heron --as-of 2020-05-01 --json"),
    ),
    "kb rules": Command(
        _rules,
        _configure_rules,
        "List the pins and blocks, which `entlink kb pin`, `block` and `unpin` change.",
        ("entlink kb rules shop.kb", "entlink kb rules shop.kb --json"),
    ),
}
