"""Builds, edits and indexing ended by SIGKILL at any moment: afterwards everything is there, or nothing."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from entlink.documents import Entity
from entlink.errors import NotFoundError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.kb.knowledge_base import KnowledgeBase
from entlink.kb.store.edits import add
from entlink.kb.verify import verify
from knowledge_bases import article, write_articles

ENTITIES = 6_000
OPTIONS = BuildOptions(format="articles", processes=1)

# Small pieces, so that a run has as many steps as that of a large knowledge base.
BUILD = """
import sys
from entlink.kb.names import alias_writer
from entlink.kb.indexes import names as index
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.sources import part
if __name__ == "__main__":
    part.PART_PAGES, index.ENTITIES_A_TASK = 500, 1000
    build([sys.argv[1]], sys.argv[2], BuildOptions(format="articles", processes=int(sys.argv[3])))
"""
ADD = """
import sys
from entlink.documents import Entity
from entlink.kb.store.edits import add
add(sys.argv[1], [Entity(f"{sys.argv[2]}-{n}", f"Added {n}", types=("added",)) for n in range(4000)])
"""
REINDEX = """
import sys
from pathlib import Path
from entlink.kb.indexes.names import reindex
reindex(Path(sys.argv[1]), processes=1)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    pick = random.Random(7)
    rows = (
        article(
            f"e{n}",
            f"Thing {pick.randrange(3000)} of kind {n % 97}",
            f"It is [[e{pick.randrange(ENTITIES)}|thing {n % 50}]] near Thing {n % 300}, of kind {n % 97}.",
            aliases=[f"alias {n}"],
        )
        for n in range(ENTITIES)
    )
    return write_articles(tmp_path_factory.mktemp("source") / "things.jsonl", rows)


@pytest.fixture(scope="module")
def undisturbed(source, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "things.kb"
    build([source], folder, OPTIONS)
    return folder


def contents(folder: Path) -> dict[str, object]:
    with KnowledgeBase.open(folder) as kb:
        index = folder / kb._store.meta("index")
        paths = [*(folder / "counts").rglob("*"), *index.rglob("*")]
        dated = ("index.json", "complete.json")  # which say when they were made
        files = {path.name: path.read_bytes() for path in paths if path.is_file() and path.name not in dated}
        manifest = kb.manifest()
        return {"entities": list(kb), "links": manifest.links, "texts": kb.texts, "files": files}


def killed_after(seconds: float, script: str, *arguments: object) -> bool:
    """Run a script and kill it, and all it started, after a while; whether it was still running."""
    process = subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], stderr=subprocess.PIPE)
    try:
        _, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    assert process.returncode == 0, stderr.decode()
    return False


def timed(script: str, *arguments: object) -> float:
    """How long a script takes here and now."""
    start = time.monotonic()
    assert not killed_after(60, script, *arguments)
    return time.monotonic() - start


@pytest.fixture(scope="module")
def duration(source, tmp_path_factory) -> float:
    """How long a build in a process of its own takes here and now."""
    return timed(BUILD, source, tmp_path_factory.mktemp("timed") / "things.kb", 1)


def test_a_build_killed_twice_is_absent_or_complete_and_goes_on(source, undisturbed, duration, tmp_path):
    pick, kills, expected = random.Random(20), 0, contents(undisturbed)
    for round in range(4):
        target = tmp_path / f"round{round}.kb"
        for share in (0.25 + 0.2 * round, 0.3 + 0.15 * round):
            if not target.exists():
                kills += killed_after(duration * (share + 0.15 * pick.random()), BUILD, source, target, 1)
            assert not target.exists() or contents(target) == expected
        if not target.exists():
            assert not killed_after(60, BUILD, source, target, 1)
        assert contents(target) == expected
        assert verify(target) > 3
    assert kills >= 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"round{round}.kb" for round in range(4)]


# Replaces a knowledge base and dies at a chosen one of the calls that move or remove files as it ends.
REPLACE = """
import os, shutil, signal, sys
from pathlib import Path
from entlink.kb.build import from_sources as module
left = int(sys.argv[3])
def deadly(function):
    def called(*arguments, **settings):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **settings)
    return called
move = module.move_into_place
def moving(work, target):
    Path.rename, Path.replace = deadly(Path.rename), deadly(Path.replace)
    shutil.rmtree, Path.unlink = deadly(shutil.rmtree), deadly(Path.unlink)
    move(work, target)
module.move_into_place = moving
module.build([sys.argv[1]], sys.argv[2], module.BuildOptions(format="articles", processes=1), replace=True)
"""


@pytest.mark.parametrize("call", range(6))
def test_a_replacement_that_is_killed_leaves_the_old_or_the_new(tmp_path, call):
    target = tmp_path / "things.kb"
    build([write_articles(tmp_path / "old.jsonl", [article("old", "Ant")])], target, OPTIONS)
    new = write_articles(tmp_path / "new.jsonl", [article("new", "Bee")])
    ran = subprocess.run([sys.executable, "-c", REPLACE, new, target, str(call)], check=False)
    assert ran.returncode == -signal.SIGKILL
    try:
        with KnowledgeBase.open(target) as kb:
            assert [entity.id for entity in kb] in (["old"], ["new"])
    except NotFoundError as problem:
        assert "things.kb.replaced" in str(problem)  # between the two renames, and told so
    build([new], target, OPTIONS, replace=True)
    with KnowledgeBase.open(target) as kb:
        assert [entity.id for entity in kb] == ["new"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.jsonl", "old.jsonl", "things.kb"]


def test_the_workers_of_a_killed_build_end_with_it(source, tmp_path):
    target = tmp_path / "things.kb"
    script = BUILD.replace("part.PART_PAGES,", "alias_writer.KEYS_A_SHARD, part.PART_PAGES,").replace(
        "= 500,", "= 2000, 500,"
    )
    process = subprocess.Popen([sys.executable, "-c", script, source, target, "2"], start_new_session=True)
    workers = waited_for(lambda: descendants(process.pid))
    assert workers
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert waited_for(lambda: not any(is_running(worker) for worker in workers))


def waited_for(condition, seconds: float = 15.0):
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def descendants(parent: int) -> list[int]:
    """Worker processes of a pool: children that run Python's spawned main."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status, command = (folder / "stat").read_text(), (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if int(status.rpartition(")")[2].split()[1]) == parent and b"spawn_main" in command:
            found.append(int(folder.name))
    return found


def is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_an_addition_that_is_killed_is_there_as_a_whole_or_not_at_all(undisturbed, tmp_path):
    folder, pick, before = Path(shutil.copytree(undisturbed, tmp_path / "edited.kb")), random.Random(3), ENTITIES
    whole, kills = timed(ADD, Path(shutil.copytree(undisturbed, tmp_path / "timed.kb")), "timed"), 0
    for round in range(5):
        kills += killed_after(whole * (0.4 + 0.1 * round + pick.random() * 0.1), ADD, folder, f"round{round}")
        with KnowledgeBase.open(folder) as kb:
            now = len(kb)
            assert now in (before, before + 4000)
            assert dict(kb.type_counts()).get("added", 0) == now - ENTITIES
            assert kb.pending_edits == now - ENTITIES
            assert len(kb.aliases("Added 7")) == (now - ENTITIES) // 4000
        before = now
    assert kills >= 1
    assert not killed_after(60, ADD, folder, "last")
    with KnowledgeBase.open(folder) as kb:
        assert len(kb) == before + 4000


def test_indexing_that_is_killed_leaves_the_old_index_or_the_new(undisturbed, tmp_path):
    folder = Path(shutil.copytree(undisturbed, tmp_path / "edited.kb"))
    add(folder, [Entity("zork", "Zork"), Entity("e1", "Renamed")], replace=True)
    expected, pick = meanings(folder), random.Random(5)
    whole, kills = timed(REINDEX, Path(shutil.copytree(undisturbed, tmp_path / "timed.kb"))), 0
    for round in range(6):
        kills += killed_after(whole * (0.3 + 0.1 * round + pick.random() * 0.1), REINDEX, folder)
        assert meanings(folder) == expected
    assert kills >= 1
    assert not killed_after(60, REINDEX, folder)
    assert meanings(folder) == expected
    with KnowledgeBase.open(folder) as kb:
        assert kb.pending_edits == 0
    assert len(list(folder.glob("index-*"))) == 1
    assert not (folder / "indexing").exists()


def meanings(folder: Path) -> dict[str, object]:
    surfaces = ["Zork", "Renamed", "alias 1", "thing 7", "Thing 12 of kind 5", "alias 5999"]
    with KnowledgeBase.open(folder) as kb:
        return {surface: kb.aliases(surface) for surface in surfaces}


@pytest.mark.parametrize("limit", [30_000, 300_000, 900_000])
def test_a_file_that_cannot_grow_on_is_an_error_that_says_so(source, undisturbed, tmp_path, limit):
    target = tmp_path / "things.kb"
    ran = failing(source, target, limit=limit)
    assert ran.returncode == 3, ran.stderr
    assert any(
        words in ran.stderr for words in ("disk is full", "disk I/O error", "File too large", "step on the counts")
    )
    assert not target.exists()
    build([source], target, OPTIONS)
    assert contents(target) == contents(undisturbed)


FAILING = """
import resource, sys
from entlink.errors import EntlinkError
from entlink.kb.build.from_sources import BuildOptions, build
from entlink.sources import part
if __name__ == "__main__":
    limit = int(sys.argv[3])
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        build([sys.argv[1]], sys.argv[2], BuildOptions(format="articles", processes=1))
    except (EntlinkError, OSError) as problem:
        print(problem, file=sys.stderr)
        sys.exit(3)
"""


def failing(source: Path, target: Path, *, limit: int = 0) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", FAILING, source, target, str(limit)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_full_disk_is_an_error_that_says_so(source, tmp_path):
    """On a file system of one megabyte, mounted for this test's process alone."""
    small = tmp_path / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=1m tmpfs {small}"
    if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system of its own needs more rights")
    python = f'{sys.executable} -c "$1" {source} {small}/things.kb 0; code=$?; ls {small}; exit $code'
    command = ["unshare", "-m", "sh", "-c", f"{mount} && {python}", "sh", FAILING]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 3, ran.stderr
    assert "full" in ran.stderr or "No space left" in ran.stderr
    assert ran.stdout.split() == ["things.kb.building"]
