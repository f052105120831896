"""`entlink kb add`, `remove`, `sync`, `pin`, `block` and `unpin`: edits, which readers see at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say

if TYPE_CHECKING:
    from entlink.documents import Entity
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.kb.store.edits import SyncReport
    from entlink.sources import Page
    from entlink_cli.parsing import Namespace, Parser

_SINGLE_FIELDS = ("title", "description", "language", "valid_from", "valid_to")
_LIST_FIELDS = ("alias", "type", "external", "image")
_IDS_SHOWN = 20

# add


def _configure_add(parser: Parser) -> None:
    options.kb_to_edit_argument(parser)
    one = parser.add_argument_group("one entity")
    one.add_argument("--id", type=values.text, help="its id, unique in the knowledge base")
    one.add_argument("--title", type=values.text, help="its name")
    one.add_argument("--description", metavar="TEXT", type=values.text, help="what it is")
    for name, what in (("alias", "another name"), ("type", "a type"), ("image", "a picture's path or address")):
        one.add_argument(
            f"--{name}", metavar=name.upper(), action="append", type=values.text, help=f"{what}; can be repeated"
        )
    one.add_argument("--language", metavar="L", type=values.text, help="a language code such as en")
    one.add_argument(
        "--external",
        metavar="SCHEME=VALUE",
        action="append",
        type=values.pair,
        help="another identifier, such as wikidata=Q42; can be repeated",
    )
    one.add_argument("--valid-from", metavar="DATE", type=values.date, help="the first day it is so")
    one.add_argument("--valid-to", metavar="DATE", type=values.date, help="the first day it is no longer so")
    many = parser.add_argument_group("many entities")
    many.add_argument("--from", dest="table", metavar="TABLE", help="a table or other source of entities")
    options.table(many)
    parser.add_argument(
        "--weight",
        metavar="N",
        type=values.weight,
        help="how many links each of their names counts for (default: as many as a name has on average)",
    )
    parser.add_argument("--replace", action="store_true", help="change entities that are there already")


def _add(arguments: Namespace) -> None:
    given = _table(arguments) if arguments.table else _page_of_options(arguments)
    with options.kb_to_edit(arguments) as kb:
        count = kb.add(
            given,
            weight=arguments.weight,
            replace=arguments.replace,
            format=arguments.format,
            columns=arguments.columns,
        )
        say(f"{arguments.kb}: {number_of(count, 'entity', 'entities')} {'put' if arguments.replace else 'added'}")
        _tell_when_index_is_due(kb)


def _table(arguments: Namespace) -> str:
    given = [name for name in ("id", *_SINGLE_FIELDS, *_LIST_FIELDS) if getattr(arguments, name)]
    if given:
        option = f"--{given[0].replace('_', '-')}"
        arguments.parser.error(f"{option} describes one entity and cannot go with --from")
    return str(arguments.table)


def _page_of_options(arguments: Namespace) -> Page:
    from entlink.sources import Page

    if arguments.id is None or arguments.title is None:
        arguments.parser.error("give --id and --title, or a table with --from")
    if arguments.format or arguments.columns:
        arguments.parser.error("--format and --columns go with --from")
    return Page(_entity(arguments), (), arguments.valid_from, arguments.valid_to)


def _entity(arguments: Namespace) -> Entity:
    from entlink.documents import Entity

    return Entity(
        arguments.id,
        arguments.title,
        arguments.description or "",
        tuple(arguments.alias or ()),
        tuple(arguments.type or ()),
        tuple(arguments.image or ()),
        arguments.language,
        external=dict(arguments.external or ()),
    )


def _tell_when_index_is_due(kb: KnowledgeBase) -> None:
    from entlink.kb.names.overlay import OVERLAY_CAP

    if kb.pending_edits > OVERLAY_CAP:
        changed = number_of(kb.pending_edits, "entity", "entities")
        note(f"{changed} changed since the last index: `entlink kb index {kb.folder}` makes linking fast again")


# remove, sync


def _configure_remove(parser: Parser) -> None:
    options.kb_to_edit_argument(parser)
    parser.add_argument("ids", metavar="ID", nargs="+", type=values.text, help="ids or other identifiers")


def _remove(arguments: Namespace) -> None:
    with options.kb_to_edit(arguments) as kb:
        count = kb.remove(*arguments.ids)
        say(f"{arguments.kb}: {number_of(count, 'entity', 'entities')} removed")
        _tell_when_index_is_due(kb)


def _configure_sync(parser: Parser) -> None:
    options.kb_to_edit_argument(parser)
    parser.add_argument(
        "table", metavar="TABLE", help="a table or other source of entities; only dated versions share an id"
    )
    parser.add_argument("--delete", action="store_true", help="remove entities that the table does not have")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and change nothing")
    options.table(parser)
    options.as_json(parser)


def _sync(arguments: Namespace) -> None:
    with options.kb_to_edit(arguments) as kb:
        report = kb.sync(
            arguments.table,
            delete=arguments.delete,
            dry_run=arguments.dry_run,
            format=arguments.format,
            columns=arguments.columns,
        )
        if arguments.json:
            from entlink_cli.terminal.output import say_json

            say_json(report)
        else:
            say(*_sync_lines(arguments.kb, report))
        _tell_when_index_is_due(kb)


def _sync_lines(kb: str, report: SyncReport) -> list[str]:
    to = "to be " if (ids := getattr(report, "ids", None)) is not None else ""
    counts = (
        f"{kb}: {report.added:,} {to}added, {report.changed:,} {to}changed, {report.unchanged:,} unchanged, "
        f"{report.removed:,} {to}removed"
    )
    if ids is None:
        return [counts]
    told = [(f"to be {what}", _first_ids(some, getattr(report, what))) for what, some in ids.items() if some]
    return [f"{counts}; nothing was changed", *columns(told, "  ")]


def _first_ids(ids: list[str], count: int) -> str:
    shown = ", ".join(ids[:_IDS_SHOWN])
    return f"{shown} and {count - _IDS_SHOWN:,} more" if count > _IDS_SHOWN else shown


# pin, block, unpin


def _configure_block(parser: Parser) -> None:
    options.kb_to_edit_argument(parser)
    parser.add_argument("surface", metavar="SURFACE", type=values.text, help="a name as it stands in texts")
    parser.add_argument("--case-sensitive", action="store_true", help="only where it is written just so")


def _configure_pin(parser: Parser) -> None:
    _configure_block(parser)
    parser.add_argument("entity", metavar="ENTITY", type=values.text, help="an id, title or other identifier")


def _configure_unpin(parser: Parser) -> None:
    options.kb_to_edit_argument(parser)
    parser.add_argument("surface", metavar="SURFACE", type=values.text, help="as it was pinned or blocked")


def _pin(arguments: Namespace) -> None:
    with options.kb_to_edit(arguments) as kb:
        kb.pin(arguments.surface, arguments.entity, case_sensitive=arguments.case_sensitive)
    say(f"{arguments.kb}: {arguments.surface!r} now always means {arguments.entity}")


def _block(arguments: Namespace) -> None:
    with options.kb_to_edit(arguments) as kb:
        kb.block(arguments.surface, case_sensitive=arguments.case_sensitive)
    say(f"{arguments.kb}: {arguments.surface!r} is no longer linked")


def _unpin(arguments: Namespace) -> None:
    from entlink.errors import NotFoundError

    with options.kb_to_edit(arguments) as kb:
        lifted = kb.unpin(arguments.surface) + kb.unblock(arguments.surface)
    if not lifted:
        raise NotFoundError(
            f"{arguments.kb}: no pin and no block on {arguments.surface!r}. `entlink kb rules` lists them"
        )
    say(f"{arguments.kb}: {number_of(lifted, 'rule')} on {arguments.surface!r} lifted")


COMMANDS = {
    "kb add": Command(
        _add,
        _configure_add,
        "Add an entity, or those of a table; linkers see them at once. An entity that is there already is "
        "changed with --replace, and gets a further version with --valid-from.",
        (
            "entlink kb add shop.kb --id P-900 --title 'Wren Mug' --alias Wren --type kitchen",
            "entlink kb add shop.kb --from samples/products.csv --replace",
        ),
    ),
    "kb remove": Command(
        _remove,
        _configure_remove,
        "Remove entities with their names; all of them, or none where one is unknown.",
        ("entlink kb remove shop.kb P-900",),
    ),
    "kb sync": Command(
        _sync,
        _configure_sync,
        "Bring a knowledge base in line with a table, by id: what is new is added, what is different changed.",
        (
            "entlink kb sync shop.kb samples/products.csv --delete --dry-run",
            "entlink kb sync shop.kb samples/products.csv --delete",
        ),
    ),
    "kb pin": Command(
        _pin,
        _configure_pin,
        "Make a name always mean one entity, whatever the counts say.",
        ("entlink kb pin shop.kb Heron P-101", "entlink kb pin shop.kb HERON P-102 --case-sensitive"),
    ),
    "kb block": Command(
        _block,
        _configure_block,
        "Make a name never be linked.",
        ("entlink kb block shop.kb Atlas", "entlink kb block shop.kb atlas --case-sensitive"),
    ),
    "kb unpin": Command(
        _unpin,
        _configure_unpin,
        "Lift the pins and blocks on a name.",
        ("entlink kb unpin shop.kb Heron",),
    ),
}
