"""The study of time on a tiny dataset and a tiny random BERT: its figures, its page, and that it can be killed."""

from __future__ import annotations

import json
import shutil

import pytest

for module in ("torch", "transformers", "onnx", "onnxruntime", "tokenizers", "safetensors"):
    pytest.importorskip(module)

import msgspec  # noqa: E402
import numpy  # noqa: E402
import torch  # noqa: E402

from entlink.errors import ConfigError, ExistsError, InputError  # noqa: E402
from entlink.studies.time.asked import Mark, asked_of  # noqa: E402
from entlink.studies.time.categories import Categories  # noqa: E402
from entlink.studies.time.means import Means  # noqa: E402
from entlink.studies.time.page import time_page, write_study  # noqa: E402
from entlink.studies.time.results import TimeOptions  # noqa: E402
from entlink.studies.time.study import study_time  # noqa: E402
from entlink.studies.time.tables import matrix_table, published_means, shaded, time_lines, time_tables  # noqa: E402
from temporal_world import DATES, write_dataset  # noqa: E402
from tiny_training import make_base  # noqa: E402

STAMPS = [f"{date}T00:00:00Z" for date in DATES]
SETTINGS = {"training.batch": "8", "training.learning_rate": "2e-3", "training.precision": '"fp32"'}
NAMES = [("names", "lexical")]


@pytest.fixture(scope="module", autouse=True)
def one_thread(tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return make_base(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_dataset(tmp_path_factory.mktemp("temporal") / "tiny")


def options_of(base, **fields):
    given = {"base": str(base), "settings": SETTINGS, "steps": 6, "tokens": 24, "ks": (1, 4, 8), "rounds": 20}
    return TimeOptions(**{**given, **fields})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("study") / "out"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Where the base is kept as an encoder; the fixture of each test is of no use to one study for all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTLINK_MODELS", str(tmp_path_factory.mktemp("models")))
        yield


@pytest.fixture(scope="module")
def found(data, base, folder, models):
    return study_time(data, folder, NAMES, options_of(base))


def test_every_model_is_asked_about_every_snapshot(found):
    trained = [row for row in found.rows if row.train is not None]
    assert {(row.train, row.entities) for row in trained} == {
        (stamp, entities) for stamp in STAMPS for entities in ("continual", "new")
    }
    assert all([cell.test for cell in row.cells] == STAMPS for row in found.rows)
    for row in found.rows:
        for cell in row.cells:
            assert 0 <= cell.accuracy_at[1] <= cell.accuracy_at[4] <= 1
    assert {row.system for row in found.rows if row.train is None} == {"plain encoder", "names"}
    assert [one.steps for one in found.trainings] == [6, 6, 6]


def test_snapshots_are_counted(found):
    # 6, 7 and 8 names with two senses each; of 24 test mentions every sixth, seventh, eighth name is the new one.
    assert [one.entities for one in found.snapshots] == [12, 14, 16]
    assert [(one.continual, one.new) for one in found.snapshots] == [(20, 4), (21, 3), (21, 3)]
    assert [(one.train, one.validation, one.missing) for one in found.snapshots] == [(48, 12, 0)] * 3


def test_the_linker_is_right_where_names_alone_tell(found):
    """Of a name there are two candidates; in 2022 three of 21 mentions are "cast", whose title is another."""
    row = next(row for row in found.rows if row.system == "names" and row.entities == "continual")
    assert [cell.accuracy_at[4] for cell in row.cells] == [1.0, 1.0, 18 / 21]


def test_means_are_over_the_mentions(found):
    means = {(one.category, one.setting): one for one in found.means if one.system == "bi-encoder"}
    cells = {
        (row.train, cell.test): cell
        for row in found.rows
        if row.train is not None and row.entities == "continual"
        for cell in row.cells
    }
    mentions = sum(cells[stamp, stamp].mentions for stamp in STAMPS)
    inside = sum(cells[stamp, stamp].accuracy_at[1] * cells[stamp, stamp].mentions for stamp in STAMPS) / mentions
    outside = sum(cell.accuracy_at[1] * cell.mentions / 2 for (a, b), cell in cells.items() if a != b) / mentions
    own, other = means["continual", "in snapshot"], means["continual", "out of snapshot"]
    assert own.mentions == other.mentions == mentions == 62
    assert own.at[1].value == pytest.approx(inside)
    assert other.at[1].value == pytest.approx(outside)
    assert means["continual", "difference"].at[1].value == pytest.approx(inside - outside)
    assert own.at[1].interval.low <= inside <= own.at[1].interval.high


def test_new_entities_have_categories(found):
    counted = {one.category: one.mentions for one in found.means if one.system == "names"}
    # lead is new in 2020, "Cast Cup 2020" in 2021, "COVID-19 in Deck" in 2022.
    assert counted == {"continual": 62, "new": 10, "COVID-19": 3, "recurrent": 3, "other": 4}


def test_new_entities_are_added_or_built_anew(found):
    ways = {(one.system, one.later[:4]): one for one in found.emerging}
    assert set(ways) == {(system, year) for system in ("names", "bi-encoder") for year in ("2021", "2022")}
    for one in ways.values():
        assert (one.entities_added, one.mentions) == (2, 3)
        assert 0 < one.seconds_to_add < one.seconds_to_rebuild
        for k in (1, 4):
            gap = one.rebuilt[k].value - one.added[k].value
            assert one.difference[k].value == pytest.approx(gap)
    # Two entities bear the name, as soon as they are added.
    assert ways["names", "2022"].added[4].value == ways["names", "2022"].rebuilt[4].value


def test_a_bi_encoder_finds_what_was_added(found):
    """No text changes here: where entities are added, it has the accuracy that it has on the later snapshot."""
    cells = {
        (row.train, cell.test): cell.accuracy_at for row in found.rows if row.entities == "new" for cell in row.cells
    }
    ways = [one for one in found.emerging if one.system == "bi-encoder"]
    for one in ways:
        for k in (1, 4):
            assert one.added[k].value == pytest.approx(cells[one.earlier, one.later][k])
            assert one.rebuilt[k].value == pytest.approx(cells[one.later, one.later][k])
    assert any(one.added[8].value > 0 for one in ways)


def test_the_page_and_the_files_beside_it(found, folder):
    written = write_study(found, folder)
    assert [one.name for one in written] == ["report.html", "study.json", "figures.csv", "tables.tex"]
    page = written[0].read_text(encoding="utf8")
    assert page.count("<svg") >= 5  # a figure for each category
    assert 'class="r0"' in page or 'class="r20"' in page
    assert "Table 5 of the paper: accuracy@1 on new entities" in page
    assert json.loads(written[1].read_bytes())["systems"].keys() == {"bi-encoder", "plain encoder", "names"}
    assert "matrix,bi-encoder trained on 2021-01-01,new 2022-01-01,accuracy@4," in written[2].read_text()
    assert r"\begin{tabular}" in written[3].read_text()


def test_tables_for_a_terminal(found):
    tables = {table.name: table for table in time_tables(found)}
    assert list(tables)[:2] == ["snapshots", "accuracy@1 continual"]
    means = [group.title for group in tables["means"].groups]
    assert means[0] == "continual: 62 mentions of 12 targets" or means[0].startswith("continual: 62 mentions of ")
    assert means[-1].startswith("published")


def test_a_row_is_coloured_against_its_own_snapshot(found):
    matrix = matrix_table(found, 1, "continual")
    for place, row in enumerate(matrix.groups[0].rows):
        assert row[1 + place].against == 0
        assert max(abs(cell.against) for cell in row[1:]) in (0, 1)
    assert [cell.against for cell in shaded([0.1, 0.3, 0.35], 0.3)] == pytest.approx([-1, 0, 0.25])


def test_a_second_call_does_nothing_again(found, data, base, folder, models, monkeypatch):
    def never(*_):
        raise AssertionError("it was done before")

    monkeypatch.setattr("entlink.learning.train.train", never)
    monkeypatch.setattr("entlink.kb.build.from_sources.build", never)
    monkeypatch.setattr("entlink.studies.time.ranks.ranks_by_vectors", never)
    monkeypatch.setattr("entlink.studies.time.ranks.ranks_by_linker", never)
    again = study_time(data, folder, NAMES, options_of(base))
    assert msgspec.structs.replace(again, seconds=found.seconds) == found


class Killed(BaseException):
    """Stands for the end of the process."""


def test_killed_at_any_stage_it_ends_in_the_same(found, data, base, tmp_path, models):
    """Killed anew at each stage that comes for the first time, until it gets to its end."""
    seen: set[str] = set()

    def killing(stage, done, total):
        name = "training" if "training, loss" in stage else stage
        if name not in seen and (name != "training" or done == 3):
            seen.add(name)
            raise Killed

    for _ in range(200):
        try:
            again = study_time(data, tmp_path / "out", NAMES, options_of(base), progress=killing)
            break
        except Killed:
            pass
    assert len(seen) > 20
    assert (again.rows, again.means) == (found.rows, found.means)
    for one, other in zip(again.emerging, found.emerging, strict=True):
        assert (one.added, one.rebuilt) == (other.added, other.rebuilt)


def test_a_folder_of_another_study_is_left_alone(found, data, base, folder, tmp_path, models):
    with pytest.raises(InputError, match=r"another study: steps is 6 there and 7 here.*--replace"):
        study_time(data, folder, NAMES, options_of(base, steps=7))
    (tmp_path / "thesis.txt").write_text("mine")
    (tmp_path / "plan.json").write_text('{"sources": []}')  # as the folder of a build that was interrupted has
    for replace in (False, True):
        with pytest.raises(ExistsError, match="something else than a study"):
            study_time(data, tmp_path, (), options_of(base), replace=replace)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "thesis.txt"]


def test_how_much_work_it_will_be_is_told_first(data, base, tmp_path, models):
    told = []

    def tell(work):
        told.append(work)
        raise Killed

    with pytest.raises(Killed):
        study_time(data, tmp_path / "out", (), options_of(base), tell=tell)
    [work] = told
    # Entities read the same on each date: 16 texts.
    assert (work.snapshots, work.texts, work.encoders, work.steps) == (3, 16, 4, 18)
    assert work.seconds > 0


def test_without_training(data, base, tmp_path, models):
    found = study_time(data, tmp_path / "out", NAMES, options_of(base, train=False, emerging=False))
    assert {row.system for row in found.rows} == {"plain encoder", "names"}
    assert found.trainings == found.emerging == []
    assert not (tmp_path / "out" / "models").exists()
    assert "<h2>New entities in use</h2>" not in time_page(found)


def test_a_plain_encoder_that_is_not_here_is_told(data, tmp_path, monkeypatch):
    monkeypatch.setenv("ENTLINK_MODELS", str(tmp_path / "none"))
    found = study_time(data, tmp_path / "out", NAMES, TimeOptions(train=False, emerging=False, rounds=0))
    assert {row.system for row in found.rows} == {"names"}
    assert any("plain encoder has no scores" in note and "minilm" in note for note in found.notes)


# Bad input


def test_one_snapshot_has_nothing_outside(data, base, tmp_path, models):
    wanted = options_of(base, snapshots=("2021-01-01",), train=False)
    found = study_time(data, tmp_path / "out", NAMES, wanted)
    assert [one.date for one in found.snapshots] == STAMPS[1:2]
    assert found.emerging == []
    assert "there is one snapshot only, so nothing is out of snapshot" in found.notes
    trained = Means({"a": [Mark("1", "continual", "continual")]}, [], TimeOptions(ks=(1,), rounds=0))
    assert [one.setting for one in trained.of_trained("bi-encoder", {"a": {"a": [1]}})] == ["in snapshot"]


def test_without_new_entities(tmp_path, base, models):
    data = write_dataset(tmp_path / "data", new=False)
    found = study_time(data, tmp_path / "out", NAMES, options_of(base, train=False))
    assert "no snapshot has mentions of new entities" in found.notes
    assert {cell.accuracy_at for row in found.rows if row.entities == "new" for cell in row.cells} == {None}
    assert found.emerging == []
    assert "Accuracy@1 on new entities" not in time_page(found)
    assert "Accuracy@1 on continual entities" in time_page(found)
    assert all(line.value is not None for line in time_lines(found))


def test_a_snapshot_that_is_not_there(data, base, tmp_path):
    with pytest.raises(InputError, match=r"no snapshot 2019-01-01. It has 2020-01-01, 2021-01-01, 2022-01-01"):
        study_time(data, tmp_path / "out", NAMES, options_of(base, snapshots=("2019-01-01",)))
    assert not (tmp_path / "out").exists()


def test_a_k_above_the_number_of_entities_is_told(data, base, tmp_path, models):
    found = study_time(data, tmp_path / "out", NAMES, options_of(base, ks=(1, 64), train=False, emerging=False))
    assert "2020-01-01 has 12 entities: accuracy at such a K says nothing" in found.notes
    plain = next(row for row in found.rows if row.system == "plain encoder")
    assert {cell.accuracy_at[64] for cell in plain.cells} == {1.0}


def test_nothing_to_measure_is_an_error(tmp_path, base):
    with pytest.raises(InputError, match="the dataset has no snapshot"):
        study_time(write_dataset(tmp_path / "none", dates=()), tmp_path / "out", (), options_of(base))
    with pytest.raises(InputError, match="no snapshot has a mention to test with"):
        study_time(write_dataset(tmp_path / "few", test=0), tmp_path / "out", (), options_of(base))
    cut = write_dataset(tmp_path / "cut")
    (cut / DATES[0] / "entities.jsonl").write_text("")
    with pytest.raises(InputError, match="2020-01-01T00:00:00Z has no entities to choose from"):
        study_time(cut, tmp_path / "out", (), options_of(base))
    (cut / DATES[0] / "entities.jsonl").unlink()
    with pytest.raises(InputError, match=r"this file is not there\. Build the dataset to its end"):
        study_time(cut, tmp_path / "out", (), options_of(base))


def test_a_snapshot_without_rows_to_train_on(tmp_path, base, models):
    data = write_dataset(tmp_path / "data", train=0)
    with pytest.raises(InputError, match="has no row to train on"):
        study_time(data, tmp_path / "out", (), options_of(base))


def test_targets_that_are_no_entities_are_counted(tmp_path, base, models):
    data = write_dataset(tmp_path / "data", dates=DATES[:1])
    pool = data / DATES[0] / "entities.jsonl"
    first, *others = pool.read_text().splitlines(keepends=True)
    pool.write_text("".join(others))
    gone = str(json.loads(first)["target_page_id"])
    found = study_time(data, tmp_path / "out", (), options_of(base, train=False, ks=(64,)))
    rows = [json.loads(line) for line in (data / DATES[0] / "test.jsonl").read_text().splitlines()]
    missing = sum(str(row["target_page_id"]) == gone for row in rows)
    assert found.snapshots[0].missing == missing > 0
    [cell] = next(row for row in found.rows if row.entities == "continual").cells
    assert cell.accuracy_at[64] == pytest.approx(1 - missing / cell.mentions)


@pytest.mark.parametrize("name", ["bi-encoder", "plain encoder", "twice"])
def test_names_of_linkers_are_their_own(data, base, tmp_path, name):
    with pytest.raises(InputError, match=f"called '{name}' already"):
        study_time(data, tmp_path / "out", [(name, "lexical"), ("twice", "lexical")], options_of(base))


def test_another_kind_of_model_is_an_error(data, base, tmp_path):
    with pytest.raises(ConfigError, match="it trains a cross-encoder"):
        study_time(data, tmp_path / "out", (), options_of(base, preset="cross-encoder"))


# Parts


class Drawn:
    """An encoder whose vectors are given by hand: mentions and entities by the number that is their id."""

    name = identity = entity_identity = "drawn"
    dimension, similarity = 3, "dot"

    def __init__(self, mentions, entities):
        self._mentions, self._entities = mentions, entities

    def encode_mentions(self, mentions):
        return self._mentions[[int(document.id) for document, _ in mentions]]

    def encode_entities(self, entities):
        return self._entities[[int(entity.id) for entity in entities]]

    def entity_content(self, entity):
        return entity.id


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_places_are_those_of_sorting_all_scores(tmp_path, monkeypatch, at_once):
    from entlink.documents import Document, Entity, Mention, Span
    from entlink.io.progress import ignore_progress
    from entlink.kb.indexes.vectors.store import ContentVectors
    from entlink.studies.time import ranks
    from entlink.studies.time.asked import Asked

    monkeypatch.setattr(ranks, "_COMPARED_AT_ONCE", at_once)
    random = numpy.random.default_rng(3)
    # Whole numbers go through half precision as they are, and give many ties.
    mentions, entities = (random.integers(-3, 4, (size, 3)).astype(numpy.float32) for size in (30, 20))
    dual = Drawn(mentions, entities)
    pool = ranks.encoded_pool(
        [Entity(str(number), "e") for number in range(20)], 20, ContentVectors(tmp_path, dual), ignore_progress, ""
    )
    targets = [*random.integers(0, 20, 29).tolist(), 99]
    asked = [
        Asked(Document(str(at), "m"), Mention(Span(0, 1), "m"), str(target), "e", "new")
        for at, target in enumerate(targets)
    ]
    wanted = []
    for at, target in enumerate(targets[:-1]):
        scores = entities @ mentions[at]
        wanted.append(1 + sum(scores[other] >= scores[target] for other in range(20) if other != target))
    assert ranks.ranks_by_vectors(dual, pool, asked, ignore_progress, "") == [*wanted, 0]


def test_contexts_keep_their_spaces(tmp_path):
    from entlink.datasets.temporal import read_temporal

    data = write_dataset(tmp_path / "data", dates=DATES[:1])
    path = data / DATES[0] / "test.jsonl"
    row = json.loads(path.read_text().splitlines()[0])
    wanted = []
    for left, mention, right, text in (
        ("such as the", "host", "). Garland", "such as the host). Garland"),
        ("such as the ", "host", " of", "such as the host of"),
        ("(", "host", "", "(host"),
    ):
        row |= {"context_left": left, "mention": mention, "context_right": right}
        wanted.append((text, json.dumps(row)))
    path.write_text("\n".join(line for _, line in wanted) + "\n")
    asked = list(asked_of(read_temporal(data), f"{DATES[0]}T00:00:00Z", "test"))
    assert [one.document.text for one in asked] == [text for text, _ in wanted]
    assert {one.document.text[one.mention.span.start : one.mention.span.end] for one in asked} == {"host"}


@pytest.mark.parametrize(
    ("title", "category"),
    [
        ("COVID-19_pandemic_in_Portland,_Oregon", "COVID-19"),
        ("Coronavirus_party", "COVID-19"),
        ("2018_BNP_Paribas_Open", "recurrent"),
        ("2020–21_Premier_League", "recurrent"),
        ("2020_COVID-19_Cup", "COVID-19"),
        ("Premier_League", "other"),
        ("Open_letter_of_1998", "recurrent"),
        ("2018_in_science", "other"),
    ],
)
def test_categories_in_the_box(title, category):
    assert Categories().of(title) == category


def test_categories_of_ones_own(tmp_path, data, base, models):
    path = tmp_path / "own.toml"
    path.write_text('[[category]]\nname = "ships"\nany = ["^Deck", "cast"]\n')
    found = study_time(
        data, tmp_path / "out", NAMES, options_of(base, categories=str(path), train=False, emerging=False)
    )
    assert found.categories == ["continual", "new", "ships", "other"]
    counted = {one.category: one.mentions for one in found.means if one.system == "names"}
    assert (counted["ships"], counted["other"]) == (3, 7)  # "COVID-19 in Deck" does not begin with it


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[category]]\nname = 'a'\nany = ['(']", r"'\(' of the category 'a' is no regular expression"),
        ("[[category]]\nname = 'a'", "the category 'a' has no pattern"),
        ("[[category]]\nname = 'new'\nany = ['a']", "the category 'new' is there already"),
        ("category = 3", "no file of categories"),
        ("= 3", "no file of categories"),
    ],
)
def test_bad_categories_are_told(tmp_path, text, told):
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=told):
        Categories(path)


def test_published_means_are_those_of_the_cells():
    from entlink.studies.data import published_figures

    figures = published_figures("tempel", ("5", "9"))
    if not figures:
        pytest.skip("the published figures are not here")
    diagonal = [0.225, 0.226, 0.219, 0.221, 0.226, 0.222, 0.217, 0.209, 0.213, 0.206]
    assert published_means(figures, 1, "continual")[0] == pytest.approx(sum(diagonal) / 10)
    assert published_means(figures, 16, "new")[1] < published_means(figures, 16, "new")[0]
    assert published_means(figures, 3, "new") is None


def test_without_published_figures_that_is_told(data, base, tmp_path, models, monkeypatch):
    monkeypatch.setattr("entlink.studies.data.published_folder", lambda: None)
    found = study_time(data, tmp_path / "out", NAMES, options_of(base, train=False, emerging=False))
    assert any("published figures are not there" in note for note in found.notes)
    assert "of the paper: accuracy" not in time_page(found)


def test_a_linker_that_is_added_costs_its_own_time_only(found, data, base, folder, tmp_path, models, monkeypatch):
    copy = shutil.copytree(folder, tmp_path / "out")

    def never(*_):
        raise AssertionError("it was done before")

    monkeypatch.setattr("entlink.learning.train.train", never)
    monkeypatch.setattr("entlink.studies.time.ranks.ranks_by_vectors", never)
    again = study_time(data, copy, [*NAMES, ("more", "lexical")], options_of(base, emerging=False))
    rows = {name: [row.cells for row in again.rows if row.system == name] for name in ("names", "more")}
    assert rows["more"] == rows["names"]
