"""`entlink train detector`: which spans of texts to link, learnt from documents with gold."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from entlink_cli import options, values
from entlink_cli.parsing import Command
from entlink_cli.terminal.output import columns, note, number_of, say, say_json
from entlink_cli.terminal.progress import progress

if TYPE_CHECKING:
    from entlink.learning.detector.training import DetectorReport
    from entlink_cli.parsing import Namespace, Parser

_SHOWN = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def _configure(parser: Parser) -> None:
    parser.add_argument("data", metavar="DATA", nargs="+", help="documents with gold, of any format entlink reads")
    parser.add_argument("--kb", metavar="NAME.kb", required=True, help="the folder of the knowledge base")
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="the folder of the detector")
    parser.add_argument("--format", metavar="F", help="format of the documents (default: told from their content)")
    parser.add_argument(
        "--encoder",
        metavar="E",
        default="minilm",
        help="what tells the meaning of words where they stand: a model of the store, a folder, or none (default: "
        "minilm)",
    )
    parser.add_argument("--seed", metavar="S", type=values.weight, default=0, help="what chance depends on")
    parser.add_argument("--replace", action="store_true", help="put it in place of one that is there")
    options.as_json(parser)
    options.quiet(parser)


def _train(arguments: Namespace) -> None:
    from entlink.encoders.extras import require_retrieval

    require_retrieval("training a detector")
    import msgspec

    from entlink.kb.knowledge_base import KnowledgeBase
    from entlink.learning.detector.training import check_folder, train_detector
    from entlink.learning.gold_files import GoldFiles

    folder = Path(arguments.output)
    check_folder(folder, replace=arguments.replace)
    files = GoldFiles(arguments.data, arguments.format)
    with KnowledgeBase.open(arguments.kb) as kb, progress(quiet=arguments.quiet) as report:
        found = train_detector(
            kb,
            files,
            folder,
            encoder=None if arguments.encoder == "none" else arguments.encoder,
            seed=arguments.seed,
            replace=arguments.replace,
            progress=report,
            command=shlex.join(["entlink", *arguments.words]),
            data=files.facts,
        )
    if arguments.json:
        say_json(msgspec.structs.asdict(found))
    elif not arguments.quiet:
        say(*_lines(found))
    if not arguments.quiet:
        note(f'saved as {folder}. Use it in a configuration: [detector] name = "learned", model = "{folder}"')


def _lines(found: DetectorReport) -> list[str]:
    rows = [
        (f"{one.threshold:g}", f"{one.precision:.3f}", f"{one.recall:.3f}", f"{one.f1:.3f}")
        for one in found.choices
        if one.threshold in (*_SHOWN, found.threshold)
    ]
    return [
        f"{number_of(found.mentions, 'mention')} in {number_of(found.texts, 'text')}; {found.reachable:,} are names "
        "or runs of up to four words",
        *columns([("threshold", "precision", "recall", "F1"), *rows]),
        f"held out: F1 {found.f1:.3f} at {found.threshold:g}, which is taken; calibration error "
        f"{found.calibration_error:.3f}",
    ]


COMMANDS = {
    "train detector": Command(
        _train,
        _configure,
        "Learn from documents with gold which spans of a text are to be linked, from what the knowledge base knows "
        "of them, what stands around them, and what their words mean there. Four nets are trained, each without a "
        "fourth of the documents, and measured there; the mean of the four is the detector. Needs pip install "
        "'entlink[retrieval]', and no torch.",
        (
            "entlink train detector samples/conversations.jsonl samples/personal.jsonl samples/article.gold.jsonl "
            "--kb wiki.kb -o wiki-detector --encoder none",
        ),
    ),
}
