"""Corpora that are not made: what is there, what is missing, what means nothing."""

from __future__ import annotations

import pytest

from corpora import ONE, KilledError, few, ids, killed_at
from entlink.datasets.hyperlinks.build import build_hyperlinks
from entlink.errors import ExistsError, InputError, LockedError, NotFoundError, SourceError
from entlink.io.atomic import write_lock


def test_what_is_there_is_not_replaced_unasked(world_articles, tmp_path):
    out = tmp_path / "links.jsonl"
    out.write_text("precious")
    with pytest.raises(ExistsError, match=r"links\.jsonl is there already"):
        build_hyperlinks(world_articles, out, ONE)
    assert out.read_text() == "precious"
    build_hyperlinks(world_articles, out, ONE, replace=True)
    assert ids(out)[0] == "planet#1"
    with pytest.raises(ExistsError, match=r"links\.card\.json is there already"):
        build_hyperlinks(world_articles, tmp_path / "links.jsonl.gz", ONE)


def test_a_build_that_fails_leaves_what_was_there(world_articles, tmp_path):
    out = tmp_path / "links.jsonl"
    build_hyperlinks(world_articles, out, ONE)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("links.*")}
    with pytest.raises(KilledError):
        build_hyperlinks(world_articles, out, few(min_links=2), replace=True, progress=killed_at(1))
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("name", ["links.txt", "links", ".jsonl", "links.jsonl.bz2"])
def test_a_corpus_is_named_as_one(world_articles, tmp_path, name):
    with pytest.raises(InputError, match=r"NAME\.jsonl or NAME\.jsonl\.gz"):
        build_hyperlinks(world_articles, tmp_path / name, ONE)


def test_places_where_no_file_can_be(world_articles, tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        build_hyperlinks(world_articles, tmp_path / "none" / "links.jsonl", ONE)
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(InputError, match="this is a folder"):
        build_hyperlinks(world_articles, tmp_path / "folder.jsonl", ONE, replace=True)
    with pytest.raises(InputError, match="one of the sources"):
        build_hyperlinks(world_articles, world_articles, ONE, replace=True)


def test_what_is_missing_is_told(world_articles, tmp_path):
    with pytest.raises(SourceError, match="there is no such file"):
        build_hyperlinks(tmp_path / "none.jsonl", tmp_path / "links.jsonl", ONE)
    with pytest.raises(NotFoundError, match="no knowledge base there"):
        build_hyperlinks(world_articles, tmp_path / "links.jsonl", ONE, kb=tmp_path / "no.kb")
    with pytest.raises(InputError, match="no source"):
        build_hyperlinks([], tmp_path / "links.jsonl", ONE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["world.jsonl"]


def test_two_builds_of_one_corpus_do_not_get_into_each_other(world_articles, tmp_path):
    with write_lock(tmp_path / "links.building"), pytest.raises(LockedError, match="another process"):
        build_hyperlinks(world_articles, tmp_path / "links.jsonl", ONE)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"kinds": ("text", "table")}, "no kind of paragraph 'table': choose among text, item, cell, caption"),
        ({"kinds": ()}, "no kind of paragraph is given"),
        ({"nil": True}, "nil needs one"),
        ({"limit": 3, "sample": 3}, "do not go together"),
        ({"limit": 0}, "limit is 0"),
        ({"sample": -1}, "sample is -1"),
        ({"min_links": 0}, "min_links is 0"),
        ({"split": {"train": 0.5}}, "add up to 0.5"),
    ],
)
def test_options_that_mean_nothing_are_refused(world_articles, tmp_path, fields, told):
    with pytest.raises(InputError, match=told):
        build_hyperlinks(world_articles, tmp_path / "links.jsonl", few(**fields))
