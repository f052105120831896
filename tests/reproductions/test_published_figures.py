"""The figures of the papers: that they load, stand as printed, fit one another, and that bad files are refused."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from entlink.errors import InputError, SourceError
from entlink.evaluation.published import (
    PublishedFigure,
    PublishedTable,
    figures,
    find,
    find_one,
    read_table,
    read_tables,
)

FOLDER = Path(__file__).resolve().parents[2] / "reproductions" / "published"
FILES = sorted(FOLDER.rglob("*.toml"))
TABLES = list(read_tables(FOLDER))
FIGURES = list(figures(FOLDER))

COUNTS = {
    "conversational_el": {"1": 12, "2": 72, "3": 8, "4": 48, "5": 20},
    "enteval": {"1": 35, "3": 64, "4": 18, "5": 3, "text": 1, "text-statistics": 8},
    "tempel": {
        "1": 16, "5": 198, "6": 200, "7": 200, "8": 200, "9": 198, "10": 200, "11": 200, "text-statistics": 28,
    },
    "wikidiverse": {
        "1": 11, "2": 12, "3": 12, "4": 21, "5": 39, "6": 14, "7": 12, "8": 104, "9": 3, "text": 11,
        "text-statistics": 12,
    },
    "hansel": {"1": 29, "3": 15, "4": 5, "5": 22, "12": 100, "text": 15, "text-statistics": 28},
}  # fmt: skip

GOLDEN = [
    ("conversational_el", "1", "annotations", {"split": "train"}, 10263),
    ("conversational_el", "1", "utterances per thread", {"split": "test"}, 6.11),
    ("conversational_el", "2", "FLAIR + BLINK",
     {"average": "micro", "dataset": "wikia", "task": "md", "metric": "precision"}, 0.027),
    ("conversational_el", "2", "FLAIR + BLINK",
     {"average": "macro", "dataset": "reddit", "task": "ed", "metric": "recall"}, 0.237),
    ("conversational_el", "2", "ELQ", {"average": "micro", "dataset": "reddit", "task": "el", "metric": "f1"}, 0.097),
    ("conversational_el", "2", "ELQ",
     {"average": "macro", "dataset": "wikia", "task": "el", "metric": "precision"}, 0.013),
    ("conversational_el", "3", "gold spans + BLINK", {"dataset": "reddit", "average": "macro"}, 0.233),
    ("conversational_el", "3", "gold spans + edit distance", {"dataset": "wikia", "average": "micro"}, 0.108),
    ("conversational_el", "4", "CREL", {"dataset": "conel2-val", "task": "md"}, 0.742),
    ("conversational_el", "4", "ELQ", {"dataset": "conel1-all", "task": "el"}, 0.431),
    ("conversational_el", "4", "ELQ fine-tuned", {"dataset": "conel2-test", "task": "el"}, 0.616),
    ("conversational_el", "5", "BLINK", {"dataset": "muppets", "metric": "crossencoder normalised accuracy"}, 0.65),
    ("conversational_el", "5", "BLINK", {"dataset": "macro average", "metric": "overall accuracy"}, 0.453),
    ("enteval", "1", "test", {"task": "ert"}, 6260),
    ("enteval", "1", "valid", {"task": "cap next"}, 3828),
    ("enteval", "3", "ELMo", {"task": "average"}, 58.8),
    ("enteval", "3", "EntELMo w/ l_etn", {"task": "esr"}, 49.0),
    ("enteval", "3", "BERT Large", {"task": "ned"}, 54.3),
    ("enteval", "4", "BERT Base", {"task": "rare", "encoded": "description"}, 42.2),
    ("enteval", "4", "BERT Large", {"task": "conll", "encoded": "name"}, 74.8),
    ("enteval", "4", "ELMo", {"task": "ert", "encoded": "name"}, 31.5),
    ("enteval", "5", "Deep ED", {}, 66.7),
    ("enteval", "text", "prior", {"task": "conll"}, 58.2),
    ("enteval", "text-statistics", "assertions after filtering", {}, 13374),
    ("tempel", "1", "min_men_prior", {}, 0.0001),
    ("tempel", "5", "bi-encoder", {"entities": "continual", "train": "2013", "test": "2013"}, 0.225),
    ("tempel", "5", "bi-encoder", {"entities": "new", "train": "2013", "test": "2020"}, 0.144),
    ("tempel", "5", "bi-encoder", {"entities": "new", "train": "2021", "test": "2021"}, 0.214),
    ("tempel", "6", "bi-encoder", {"entities": "continual", "train": "2013", "test": "2022"}, 0.293),
    ("tempel", "6", "bi-encoder", {"entities": "new", "train": "2018", "test": "2018"}, 0.380),
    ("tempel", "7", "bi-encoder", {"entities": "continual", "train": "2017", "test": "2013"}, 0.464),
    ("tempel", "7", "bi-encoder", {"entities": "new", "train": "2013", "test": "2022"}, 0.397),
    ("tempel", "8", "bi-encoder", {"entities": "continual", "train": "2019", "test": "2016"}, 0.554),
    ("tempel", "8", "bi-encoder", {"entities": "new", "train": "2022", "test": "2017"}, 0.504),
    ("tempel", "9", "bi-encoder", {"entities": "continual", "train": "2013", "test": "2021"}, 0.605),
    ("tempel", "9", "bi-encoder", {"entities": "new", "train": "2014", "test": "2014"}, 0.730),
    ("tempel", "10", "bi-encoder", {"entities": "continual", "train": "2020", "test": "2019"}, 0.699),
    ("tempel", "10", "bi-encoder", {"entities": "new", "train": "2021", "test": "2022"}, 0.741),
    ("tempel", "11", "bi-encoder", {"entities": "continual", "train": "2022", "test": "2022"}, 0.760),
    ("tempel", "11", "bi-encoder", {"entities": "new", "train": "2013", "test": "2013"}, 0.910),
    ("tempel", "text-statistics", "highest prior", {"snapshot": "highest"}, 76.28),
    ("wikidiverse", "1", "Twitter", {"counted": "tweets"}, 4_000_000),
    ("wikidiverse", "2", "BBC", {"aspect": "difficulty", "level": "easy"}, 30),
    ("wikidiverse", "3", "words per pair", {"split": "dev"}, 10.28),
    ("wikidiverse", "4", "BLINK + CLIP", {"metric": "recall@50"}, 74.80),
    ("wikidiverse", "4", "P(e|m)", {"metric": "recall@10"}, 83.34),
    ("wikidiverse", "5", "LXMERT †", {"metric": "f1"}, 70.13),
    ("wikidiverse", "5", "UNITER*", {"metric": "precision"}, 73.27),
    ("wikidiverse", "5", "BERT", {"metric": "f1"}, 56.16),
    ("wikidiverse", "6", "LXMERT", {"without": "V_e", "split": "test"}, 61.07),
    ("wikidiverse", "6", "LXMERT", {"without": "T_m", "split": "dev"}, 20.51),
    ("wikidiverse", "7", "LXMERT", {"clue": "property"}, 66.45),
    ("wikidiverse", "7", "all mentions", {"clue": "object"}, 45.40),
    ("wikidiverse", "8", "MMEL20", {"metric": "f1", "statistic": "deviation"}, 1.20),
    ("wikidiverse", "8", "UNITER* †", {"metric": "recall@5", "statistic": "mean"}, 75.67),
    ("wikidiverse", "9", "LXMERT †", {"pooling": "average"}, 69.68),
    ("wikidiverse", "text", "BM25", {}, 40),
    ("wikidiverse", "text-statistics", "kappa of two annotators", {"about": "linking"}, 83.75),
    ("hansel", "1", "train", {"counted": "mentions", "part": "in-kb"}, 9_890_000),
    ("hansel", "1", "hansel-zs", {"counted": "entities", "part": "new"}, 2992),
    ("hansel", "3", "CA-tuned", {"metric": "recall@1"}, 88.1),
    ("hansel", "3", "AT-ext", {"metric": "recall@10"}, 91.1),
    ("hansel", "4", "TyDE (sim+coarse)", {}, 74.9),
    ("hansel", "5", "CA", {"dataset": "hansel-fs"}, 46.2),
    ("hansel", "5", "AT", {"dataset": "hansel-zs", "scored": "with-nil"}, 63.0),
    ("hansel", "5", "mGENRE + candidates", {"dataset": "hansel-zs"}, 68.4),
    ("hansel", "5", "AT", {"dataset": "hansel-fs", "metric": "recall@100"}, 63.0),
    ("hansel", "12", "tac-kbp2017 few-shot", {"counted": "distinct mentions", "part": "total"}, 877),
    ("hansel", "12", "cleek", {"counted": "entities"}, 1191),
    ("hansel", "text", "CA-tuned", {"about": "errors: wrong candidate chosen"}, 344),
    ("hansel", "text-statistics", "two annotators", {"about": "kappa", "dataset": "hansel-fs"}, 0.622),
]  # fmt: skip


@pytest.fixture(scope="module")
def checks():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        import published_checks

        yield published_checks
    sys.modules.pop("published_checks")


def test_a_file_is_named_after_what_it_holds():
    for path in FILES:
        table = read_table(path)
        stem = f"table-{table.table}" if table.table.isdigit() else table.table
        assert (table.paper, stem) == (path.parent.name, path.stem)
        assert table.kind != "statistics" or table.table != "text", path
        assert any(True for _ in table.figures()), path


def test_every_table_has_all_its_cells():
    counts = {paper: {} for paper in COUNTS}
    for table in TABLES:
        counts[table.paper][table.table] = len(list(table.figures()))
    assert counts == COUNTS
    assert len(FIGURES) == sum(sum(tables.values()) for tables in COUNTS.values())


@pytest.mark.parametrize(("paper", "table", "system", "where", "value"), GOLDEN)
def test_a_figure_stands_as_in_the_paper(paper, table, system, where, value):
    assert find_one(FIGURES, paper=paper, table=table, system=system, **where).value == value


def test_every_table_has_a_golden_cell():
    golden = {(paper, table) for paper, table, *_ in GOLDEN}
    assert golden == {(table.paper, table.table) for table in TABLES}


def test_the_checks_find_the_noted_misprints_and_no_others(checks):
    found, noted = checks.found(TABLES), checks.noted(TABLES)
    assert found.keys() - noted.keys() == set()
    assert noted.keys() - found.keys() == set()
    assert [cell for cell, check in noted.items() if check not in found[cell]] == []
    assert len(noted) == sum(len(table.misprints) for table in TABLES) == 18


@pytest.mark.parametrize(
    ("paper", "table", "system", "where"),
    [
        ("conversational_el", "2", "ELQ", {"dataset": "reddit", "task": "el", "metric": "f1", "average": "micro"}),
        ("conversational_el", "5", "BLINK", {"dataset": "macro average", "metric": "recall@64"}),
        ("enteval", "3", "GloVe", {"task": "average"}),
        ("tempel", "10", "bi-encoder", {"entities": "continual", "train": "2016", "test": "2013"}),
        ("wikidiverse", "5", "LXMERT", {"metric": "precision"}),
        ("hansel", "12", "cleek", {"counted": "mentions", "part": "total"}),
    ],
)
def test_the_checks_find_a_slip_in_the_first_digit(checks, paper, table, system, where):
    figure = find_one(FIGURES, paper=paper, table=table, system=system, **where)
    tables = [with_slip(one, figure) if (one.paper, one.table) == (paper, table) else one for one in TABLES]
    assert checks.found(tables).keys() > checks.noted(TABLES).keys()


def with_slip(table: PublishedTable, figure: PublishedFigure) -> PublishedTable:
    """The table with one more in the first digit of one cell."""
    cells = [(cell.system, cell.where) for cell in table.cells()]
    row, column = divmod(cells.index((figure.system, figure.where)), len(table.headers()))
    rows, values = list(table.rows), list(table.rows[row].values)
    values[column] += Decimal(1).scaleb(Decimal(values[column]).adjusted())
    rows[row] = msgspec.structs.replace(rows[row], values=tuple(values))
    return msgspec.structs.replace(table, rows=tuple(rows))


def test_a_macro_f1_below_the_harmonic_mean_is_no_misprint(checks):
    cell = {"table": "2", "system": "FLAIR + BLINK", "average": "macro", "dataset": "wikia", "task": "md"}
    precision, recall, f1 = (find_one(FIGURES, metric=name, **cell) for name in ("precision", "recall", "f1"))
    assert f1.value + f1.rounding < checks.span(checks.harmonic, precision, recall)[0]
    assert not f1.misprint


def test_the_rare_column_of_enteval_repeats_ert():
    repeated = list(find(FIGURES, paper="enteval", table="4", task="rare", encoded="description"))
    assert [(figure.system, figure.misprint) for figure in repeated] == [
        ("ELMo", False), ("BERT Base", True), ("BERT Large", True),
    ]  # fmt: skip
    assert all("ert" in figure.note for figure in repeated[1:])


def test_blinks_overall_accuracy_is_slightly_above_the_product():
    """As the note of the table says."""
    for dataset in ("elder scrolls", "muppets", "ice hockey", "coronation street"):
        row = {figure.where["metric"]: figure.value for figure in find(FIGURES, table="5", dataset=dataset)}
        product = row["recall@64"] * row["crossencoder normalised accuracy"]
        assert 0.0001 < row["overall accuracy"] - product < 0.0004


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100), st.integers(0, 100))
def test_no_two_annotators_exceed_the_highest_kappa(checks, both, first, second, neither):
    all_of_them = both + first + second + neither
    assume(all_of_them)
    agreed = (both + neither) / all_of_them
    one, other = (both + first) / all_of_them, (both + second) / all_of_them
    by_chance = one * other + (1 - one) * (1 - other)
    highest_by_chance = 1 - (one + other) + ((one + other) ** 2 - (1 - agreed) ** 2) / 2
    assume(by_chance < 1 and highest_by_chance < 1)
    kappa = (agreed - by_chance) / (1 - by_chance)
    assert kappa <= checks.highest_kappa(100 * agreed, 50 * (one + other)) + 1e-9


def test_what_cannot_be_read_is_listed_and_left_out():
    unreadable = [(table.table, note.where) for table in TABLES for note in table.unreadable]
    cells = [{"entities": entities, "train": "2013", "test": "2022"} for entities in ("continual", "new")]
    assert unreadable == [(table, cell) for table in ("5", "9") for cell in cells]
    for table, where in unreadable:
        assert list(find(FIGURES, paper="tempel", table=table, **where)) == []


def test_digits_say_how_far_a_figure_was_rounded():
    def of(**where):
        figure = find_one(FIGURES, paper="hansel", **where)
        return figure.decimals, figure.rounding

    assert of(table="1", system="train", counted="documents", part="in-kb") == (-4, 5000)
    assert of(table="1", system="hansel-fs", counted="documents", part="in-kb") == (0, 0)
    assert of(table="5", system="TyDE", dataset="hansel-fs") == (1, 0.05)
    assert of(table="text-statistics", about="kappa", dataset="hansel-fs") == (3, 0.0005)
    assert find_one(FIGURES, table="5", paper="tempel", entities="new", train="2013", test="2013").decimals == 3


def test_the_readme_lists_every_file_and_every_misprint():
    readme = (FOLDER / "README.md").read_text(encoding="utf8")
    for table in TABLES:
        name = f"table-{table.table}" if table.table.isdigit() else table.table
        figures_of = COUNTS[table.paper][table.table]
        title = table.title.replace("|", "\\|")
        path = f"{table.paper}/{name}.toml"
        assert f"| [{path}]({path}) | {table.kind} | {figures_of} | {title} |\n" in readme
        for misprint in table.misprints:
            assert f"| {misprint.printed} | {misprint.why} |\n" in readme
    assert readme.count(".toml](") == len(TABLES)
    assert f"{len(TABLES)} files, {len(FIGURES)} figures." in readme
    assert f"{sum(len(table.misprints) for table in TABLES)} cells cannot be right" in readme


def test_one_figure_is_asked_for():
    with pytest.raises(InputError, match=r"no published figures have system='Nobody'\. Check"):
        find_one(FIGURES, system="Nobody")
    with pytest.raises(InputError, match=r"22 published figures have paper='hansel', table='5'\. Say more"):
        find_one(FIGURES, paper="hansel", table="5")


GOOD = """
paper = "p"
table = "1"
title = "A table"
kind = "results"
unit = "percent"
columns = [{ dataset = ["a", "b"], metric = "f1" }]
rows = [
    { system = "x", values = [1.0, 2] },
    { system = "y", values = ["-", "?"], bold = [1] },
]
[[misprints]]
system = "x"
where = { dataset = "a" }
printed = 1.0
check = "sum"
why = "because"
[[unreadable]]
system = "y"
where = { dataset = "b" }
why = "a blot"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "table.toml"
    path.write_text(text, encoding="utf8")
    return path


def test_a_small_table_is_read(tmp_path):
    table = read_table(written(tmp_path, GOOD))
    first, second = table.figures()
    assert (first.value, first.decimals, first.misprint, first.note) == (1.0, 1, True, "because")
    assert (second.value, second.decimals, second.where) == (2.0, 0, {"dataset": "b", "metric": "f1"})


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('paper = "p"\n', "", "missing required field `paper`"),
        ('unit = "percent"', 'unit = "parsecs"', "Invalid enum value 'parsecs'"),
        ('kind = "results"', 'kind = "results"\ncolour = "red"', "unknown field `colour`"),
        ("[1.0, 2]", "[1.0]", r"row 1 \(x\): there are 1 values for 2 columns"),
        ("[1.0, 2]", '[1.0, "two"]', r"row 1 \(x\), column 2: 'two' is not a number"),
        ("[1.0, 2]", "[1.0, true]", "True is not a number"),
        ("[1.0, 2]", "[1.0, nan]", "is not a number"),
        ("bold = [1]", "bold = [3]", "there is no column 3 to be bold"),
        ("bold = [1]", 'where = { z = "1" }', "the keys of `where` are not those of row 1"),
        ('system = "y", ', 'system = "x", ', "two cells are both 'x'"),
        ('system = "y", ', "", "the system must be named"),
        ('metric = "f1" }', 'metric = "f1" }, { dataset = "c" }', r"column 3: the keys \['dataset'\]"),
        ('unit = "percent"', 'unit = "percent"\nwhere = { metric = "f1" }', "'metric' is set twice"),
        ('where = { dataset = "a" }', 'where = { colour = "a" }', "misprints: no column or row has the key 'colour'"),
        ('where = { dataset = "a" }', 'where = { dataset = "c" }', "means 0 cells"),
        ('where = { dataset = "a" }', "", "means 2 cells"),
        ("printed = 1.0", "printed = 1.5", "printed is 1.5 and the cell 1.0"),
        ('"-", "?"', '"-", 5', "unreadable: the list does not fit the cell of 'y'"),
        ("[1.0, 2]", '[1.0, "?"]', "unreadable: the list does not fit the cell of 'x'"),
        ("rows = [", "rows = [[", "this is not TOML"),
        ('columns = [{ dataset = ["a", "b"], metric = "f1" }]', "columns = []", "no columns or no rows"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, old, new, problem):
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(SourceError, match=problem) as caught:
        read_table(path)
    assert caught.value.file == str(path)
    assert caught.value.hint


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(SourceError, match="cannot be read"):
        read_table(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b'title = "\xe9"')
    with pytest.raises(SourceError, match="byte 9: the file is not UTF-8"):
        read_table(tmp_path / "latin.toml")


def test_a_table_is_in_one_file_only(tmp_path):
    with pytest.raises(SourceError, match="there is no table here"):
        list(figures(tmp_path))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, GOOD)
    with pytest.raises(SourceError, match=r"two.*table '1' of 'p' is in .*one"):
        list(figures(tmp_path))
