"""Files and folders are replaced whole: what was there stays until the new one is on the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from entlink.io.atomic import whole_folder, write_whole


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What is synchronised and what is moved, in order, each by its inode: a move does not change it."""
    found: list[tuple[str, int]] = []
    fsync, replace = os.fsync, os.replace

    def noting_fsync(descriptor: int) -> None:
        found.append(("fsync", os.fstat(descriptor).st_ino))
        fsync(descriptor)

    def noting_replace(source: Path, target: Path) -> None:
        found.append(("replace", Path(source).stat().st_ino))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(os, "replace", noting_replace)
    return found


def number(path: Path) -> int:
    return path.stat().st_ino


def test_a_file_is_on_the_disk_before_it_replaces_another_and_its_name_after(tmp_path, calls):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert calls == [("fsync", number(path)), ("replace", number(path)), ("fsync", number(tmp_path))]
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="the disk is full"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_folder_is_on_the_disk_with_all_its_files_before_it_comes_into_place(tmp_path, calls):
    with whole_folder(tmp_path / "made") as partial:
        (partial / "deep").mkdir()
        (partial / "deep" / "a").write_bytes(b"a")
        assert not (tmp_path / "made").exists()
    made = tmp_path / "made"
    *before, moved, last = calls
    assert set(before) == {("fsync", number(path)) for path in (made, made / "deep", made / "deep" / "a")}
    assert (moved, last) == (("replace", number(made)), ("fsync", number(tmp_path)))


def test_a_folder_that_was_there_goes_only_when_the_new_one_is_whole(tmp_path):
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "old").touch()
    with pytest.raises(RuntimeError), whole_folder(folder) as partial:
        (partial / "half").touch()
        raise RuntimeError
    assert [path.name for path in folder.iterdir()] == ["old"]
    with whole_folder(folder) as partial:
        assert list(partial.iterdir()) == []  # nothing is left of what was broken off
        (partial / "new").touch()
        assert [path.name for path in folder.iterdir()] == ["old"]
    assert [path.name for path in folder.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [folder]


def test_a_folder_whose_replacement_was_killed_between_its_moves_is_still_there(tmp_path):
    folder = tmp_path / "made"
    (tmp_path / "made.before").mkdir()
    (tmp_path / "made.before" / "old").touch()
    with pytest.raises(RuntimeError), whole_folder(folder):
        raise RuntimeError
    assert [path.name for path in folder.iterdir()] == ["old"]


def test_what_was_there_stays_until_all_of_the_new_folder_is_on_the_disk(tmp_path, monkeypatch):
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "old").touch()

    def full(descriptor: int) -> None:
        assert (folder / "old").exists()
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="the disk is full"), whole_folder(folder) as partial:
        (partial / "new").touch()
    assert [path.name for path in folder.iterdir()] == ["old"]
