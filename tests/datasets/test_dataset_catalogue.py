"""Cards of datasets: all of them are whole, and what they name can be found."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

import entlink.datasets.catalogue
from entlink.datasets.catalogue.catalogue import card, cards, dataset, names
from entlink.datasets.catalogue.dataset_card import DatasetCard, Split
from entlink.datasets.catalogue.records import OTHER_READERS
from entlink.errors import InputError, SourceError
from entlink.evaluation.scoring.conventions import Matching, NilRule
from entlink.formats.public.catalogue import PUBLIC_FORMATS

CARDS = Path(entlink.datasets.catalogue.__file__).parent / "cards"
ALL = list(cards().values())
FILES = {path.stem: path for path in CARDS.rglob("*.toml")}


def test_every_file_is_a_card_of_its_name():
    assert names() == sorted(FILES)
    assert len(names()) >= 20


def test_every_card_is_whole():
    for about in ALL:
        for field in ("title", "measures", "task", "licence", "how_to_get", "citation", "main_score"):
            assert getattr(about, field).strip(), (about.name, field)
        assert about.source.startswith("https://"), about.name
        assert about.languages, about.name
        assert all(re.fullmatch("[a-z]{2}", language) for language in about.languages), about.name
        assert about.reader in OTHER_READERS or about.reader in PUBLIC_FORMATS, about.name
        assert FILES[about.name].read_text(encoding="utf8").startswith(f'name = "{about.name}"\n')


def test_every_card_is_short():
    """What is not a line of `splits` is at most forty lines."""
    for about in ALL:
        lines = FILES[about.name].read_text(encoding="utf8").splitlines()
        assert len(lines) - len(about.splits) <= 40, about.name
        assert max(len(line) for line in lines if not re.search("sha256|^source", line)) <= 118, about.name


def test_splits_are_told_apart():
    for about in ALL:
        assert about.splits, about.name
        assert len({split.name for split in about.splits}) == len(about.splits), about.name
        places = [(split.file, tuple(split.only.items())) for split in about.splits]
        assert len(set(places)) == len(places), about.name
        for split in about.splits:
            assert split.sha256 is None or re.fullmatch("[0-9a-f]{64}", split.sha256), (about.name, split.name)
            assert split.names(Path("some/folder") / split.file.replace("*", "x")), (about.name, split.name)


def test_how_to_get_it_ends_with_a_check_where_there_is_something_to_get():
    for about in ALL:
        if "not published" not in about.how_to_get:
            assert about.how_to_get.rstrip().endswith(f"--dataset {about.name}"), about.name


def test_an_f1_names_its_convention():
    for about in ALL:
        score, *convention = about.main_score.split(", ")
        if score.endswith(" f1"):
            assert score in ("el f1", "md f1"), about.name
            matching, *nil = convention
            assert matching in [each.value for each in Matching], about.name
            assert set(nil) <= {each.value for each in NilRule}, about.name
            assert nil or score == "md f1", about.name


def test_no_file_is_in_two_datasets():
    sums = [(split.sha256, each.name) for each in cards().values() for split in each.splits if split.sha256]
    by_sum: dict[str, set[str]] = {}
    for digest, name in sums:
        by_sum.setdefault(digest, set()).add(name)
    assert all(len(owners) == 1 for owners in by_sum.values())


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(InputError, match=r"no dataset 'conel2'\. Did you mean 'conel-2'\? `entlink datasets list`"):
        card("conel2")
    with pytest.raises(InputError, match=r"no dataset 'qqq'\. `entlink datasets list`"):
        card("qqq")


def test_an_unknown_split_is_told_with_the_nearest():
    with pytest.raises(
        InputError, match=r"conel-2 has no split 'vall'\. Did you mean 'val'\? It has train, val, test"
    ):
        card("conel-2").split("vall")


def test_a_field_that_no_card_has_is_refused():
    with pytest.raises(msgspec.ValidationError, match="unknown field `license`"):
        msgspec.convert({**msgspec.to_builtins(card("fever")), "license": "MIT"}, DatasetCard)


def test_a_missing_split_is_told_with_what_to_do(tmp_path):
    with pytest.raises(SourceError, match=r"no ConEL22_EL_Test\.json, the split test of conel-2\. `entlink datasets"):
        dataset("conel-2", tmp_path, "test")


def test_a_file_is_found_below_the_folder_and_only_once(tmp_path):
    split = Split(name="all", file="part/*.jsonl")
    about = msgspec.structs.replace(card("fever"), splits=(split,))
    one = tmp_path / "deep" / "part" / "a.jsonl"
    one.parent.mkdir(parents=True)
    one.touch()
    assert about.find(split, tmp_path) == one
    assert about.find(split, one) == one
    (one.parent / "b.jsonl").touch()
    with pytest.raises(SourceError, match=r"2 files may be the split all of fever: .*Name the folder of one of them"):
        about.find(split, tmp_path)
