"""The tour `make demo` gives: a wiki becomes a knowledge base, and texts are linked to it.

python samples/demo.py FOLDER
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console

HERE = Path(__file__).resolve().parent
ENGLISH = (HERE / "wiki/samplewiki.xml", HERE / "wiki/samplewiki-page_props.sql")  # with its Wikidata ids
CHINESE = (HERE / "wiki/samplewiki-zh.xml", HERE / "wiki/samplewiki-zh-page_props.sql")
NEW_NAME = "The company I write it for is Tinderfox, and they just opened an office in Cambridge."
HARD = "A loudspeaker plays Queen, with Mercury at the piano."


class Tour:
    """Shows a command, then runs it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.console = Console(highlight=False)

    def say(self, text: str) -> None:
        self.console.print(f"\n[bold]{text}[/bold]")

    def run(self, *words: str | Path, text: str | None = None) -> None:
        """Run an entlink command as a user would type it; the tour ends where one fails."""
        shown = " ".join(shlex.quote(_relative(word)) for word in words)
        piped = f"echo {shlex.quote(text)} | " if text else ""
        self.console.print(f"[green]$ {piped}entlink {shown}[/green]", soft_wrap=True)
        sys.stdout.flush()
        command = [str(Path(sys.executable).with_name("entlink")), *map(_relative, words)]
        finished = subprocess.run(command, input=text, text=True, check=False)
        if finished.returncode:
            raise SystemExit(finished.returncode)


def _relative(word: str | Path) -> str:
    path = Path(word)
    return str(path.relative_to(Path.cwd())) if path.is_absolute() and path.is_relative_to(Path.cwd()) else str(word)


def main() -> None:
    """Run the tour in a folder, which is made anew."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tour = Tour(folder)
    kb, chinese = folder / "sample.kb", folder / "chinese.kb"
    tour.say("1. Two small wikis, as MediaWiki exports them, become knowledge bases")
    tour.run("kb", "build", *ENGLISH, "-o", kb)
    tour.run("kb", "build", *CHINESE, "-o", chinese, "--quiet")
    tour.say("2. What may a name mean?")
    tour.run("kb", "aliases", kb, "Mercury")
    tour.say("3. News, linked in English and in Chinese")
    tour.run("link", kb, HERE / "news.txt", "--view")
    tour.run("link", chinese, HERE / "news.zh.txt", "--view")
    tour.say("4. A conversation, linked turn by turn")
    tour.run("link", kb, HERE / "holiday.jsonl", "--view")
    tour.say("5. Most links say that Mercury is the planet. The words around say who it is")
    tour.run("explain", kb, HARD, "--surface", "Mercury")
    tour.say("6. An entity that did not exist a second ago is linked at once")
    tour.run("link", kb, "--view", text=NEW_NAME)
    tour.run("kb", "add", kb, "--id", "Tinderfox", "--title", "Tinderfox", "--type", "Companies")
    tour.run("link", kb, "--view", text=NEW_NAME)
    tour.say("7. What things were called in 2015")
    tour.run(
        "link", kb, "--view", "--as-of", "2015-06-01", text="Swaziland lies between Mozambique and South Africa."
    )
    tour.say("8. How good is it on two hard conversations? Which stage lost what?")
    linked = folder / "linked.jsonl"
    tour.run("link", kb, HERE / "conversations.jsonl", "--candidates", "-o", linked)
    tour.run("evaluate", HERE / "conversations.jsonl", linked, "--kb", kb, "--slice", "kb")
    tour.say("What to try next (entlink is in .venv/bin)")
    where = _relative(kb)
    tour.console.print(
        f"  entlink kb show {where} 'Mercury (planet)'         everything about one entity; Q308 will do, too\n"
        f"  entlink kb pin {where} Mercury 'Freddie Mercury'   from now on, always him\n"
        f"  entlink link {where} samples/article.txt --explain   why each name was linked or left out\n"
        f"  entlink kb build samples/products.csv -o shop.kb && entlink link shop.kb samples/chat.txt\n"
        "  and your own table: entlink kb build MY.csv -o my.kb (see README.md)",
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
