from __future__ import annotations

import pytest

from dump_files import PACK, export, noise, page, revision
from entlink.errors import SourceError
from entlink.sources import HistoryOptions, Page, WikiOptions, open_source
from histories import GOLDEN, at, plainly_chosen, read_dated, redirects, revisions

DATES = "2013,2014"
OLD, NEW = "2012-01-01T00:00:00Z", "2013-06-01T00:00:00Z"


def dated(id: int, time: str, text: str | None = "x", *, head: str = "", **fields: str) -> str:
    """A revision with a number of its own; with None its text was deleted."""
    written = revision(text or "", time, **fields).replace("<id>5</id>", f"<id>{id}</id>{head}")
    return (
        written
        if text is not None
        else written.replace('<text xml:space="preserve"></text>', '<text deleted="deleted" />')
    )


def test_revisions_out_of_order_with_equal_times_and_deleted_texts(write):
    rows = [dated(4, NEW), dated(1, OLD), dated(3, NEW, None), dated(2, OLD), dated(5, "2013-12-20T00:00:00Z", None)]
    items, _ = read_dated(write("a.xml", export(page("Hill", 1, *rows))), DATES)
    assert [revisions(items, snapshot) for snapshot in (0, 1)] == [{"Hill": 2}, {"Hill": 4}]


def test_a_page_all_of_which_was_deleted_is_not_there(write):
    data = export(page("Hill", 1, dated(1, OLD, None)), page("Dale", 2, dated(2, OLD)))
    items, ledger = read_dated(write("a.xml", data), DATES)
    assert revisions(items, 0) == revisions(items, 1) == {"Dale": 2}
    assert ledger.left_out == {"not there at any of the snapshots": 1}


@pytest.mark.parametrize(
    "text", ['<text id="3" bytes="7" />', '<text bytes="7"></text>', "<text id='3' bytes='7' />"]
)
def test_a_dump_without_texts_is_refused(write, text):
    data = export(page("Hill", 1, dated(1, OLD))).replace(b'<text xml:space="preserve">x</text>', text.encode())
    with pytest.raises(SourceError, match=r"page 'Hill' at byte \d+: the dump holds none of its texts"):
        read_dated(write("a.xml", data), DATES)


@pytest.mark.parametrize(
    "text", ["<text />", '<text bytes="0" />', '<text bytes="0" sha1="a" xml:space="preserve"/>']
)
def test_a_blank_page_is_a_version(write, text):
    data = export(page("Hill", 1, dated(1, OLD))).replace(b'<text xml:space="preserve">x</text>', text.encode())
    items, _ = read_dated(write("a.xml", data), DATES)
    assert revisions(items, 0) == {"Hill": 1}


def test_before_the_first_and_after_the_last_revision(write):
    path = write("a.xml", export(page("Hill", 1, dated(1, OLD), dated(2, NEW))))
    items, _ = read_dated(path, "1999,2013,2050")
    assert [revisions(items, snapshot) for snapshot in range(3)] == [{}, {"Hill": 1}, {"Hill": 2}]
    assert read_dated(path, "1999")[0] == []


def test_two_snapshots_on_a_day(write):
    path = write("a.xml", export(page("Hill", 1, dated(1, OLD), dated(2, "2013-06-01T06:00:00Z"))))
    items, _ = read_dated(path, "2013-06-01,2013-06-01T11:00,2013-06-01T13:00", stable_interval=43_200)
    assert [revisions(items, snapshot)["Hill"] for snapshot in range(3)] == [1, 1, 2]


def test_one_revision_under_two_titles(write):
    """Moved on the last day before a snapshot: the version is still that from before, the title is the new one."""
    move = dated(2, "2012-12-31T00:00:00Z", "x", comment="moved [[Mound]] to [[Hill]]")
    path = write("a.xml", export(page("Hill", 1, dated(1, OLD), move)))
    items, _ = read_dated(path, "2012-06-01,2012-12-30,2013")
    assert [(each.snapshots, each.item.entity.title) for each in items] == [([0, 1], "Mound"), ([2], "Hill")]
    assert {each.item.entity.external["revision"] for each in items} == {"1"}


def test_a_page_whose_first_revision_is_missing(write):
    path = write("a.xml", export(page("Hill", 1, dated(7, OLD, head="<parentid>6</parentid>"))))
    items, _ = read_dated(path, DATES)
    assert [item.entity.created for item in at(items, 0)] == [None]


def test_redirects_of_other_times_are_told_by_the_text(write):
    """The head of the page says only where the latest revision leads."""
    rows = [dated(1, OLD, "#REDIRECT [[Dale]]"), dated(2, NEW, "#weiter [[Vale#End]]")]
    data = export(page("Hill", 1, *rows)).replace(b"<revision>", b'<redirect title="Vale" /><revision>', 1)
    items, _ = read_dated(write("a.xml", data), DATES)
    assert [redirects(items, snapshot) for snapshot in (0, 1)] == [{"Hill": "Dale"}, {"Hill": "Vale"}]


@pytest.mark.parametrize("kind", ["xml", "xml.bz2", "xml.gz", "xml.7z"])
def test_a_history_cut_off_in_a_page(write, kind):
    whole = [page(f"Hill {n}", n, dated(n, OLD, noise(3_000, n)), dated(n + 50, NEW)) for n in (1, 2, 3)]
    data = export(*whole)
    cut = data[: data.rindex(b"<timestamp>")]
    path = write(f"a.{kind}", PACK[kind](cut))
    with pytest.raises(SourceError, match="the data end in the middle of a page; the page 'Hill 3' is lost with it"):
        read_dated(path, DATES)
    items, ledger = read_dated(path, DATES, on_error="skip")
    assert revisions(items, 1) == {"Hill 1": 51, "Hill 2": 52}
    assert ledger.skipped == 1


@pytest.mark.parametrize("time", ["", "yesterday", "2012-02-30T00:00:00Z", "2012-01-01"])
def test_a_revision_without_a_time(write, time):
    path = write("a.xml", export(page("Hill", 1, dated(1, OLD), dated(2, time)), page("Dale", 2, dated(3, OLD))))
    with pytest.raises(SourceError, match=f"page 'Hill' at byte .*one of its revisions has '{time}' for a time"):
        read_dated(path, DATES)
    assert revisions(read_dated(path, DATES, on_error="skip")[0], 0) == {"Dale": 3}


def test_broken_xml_costs_the_version_that_it_is_in(write):
    data = export(page("Hill", 1, dated(1, OLD, "MARK"), dated(2, NEW)), page("Dale", 2, dated(3, OLD)))
    path = write("a.xml", data.replace(b"MARK", b"a &b"))
    with pytest.raises(SourceError, match=r"page 'Hill' at byte \d+: its XML is broken"):
        read_dated(path, DATES)
    items, ledger = read_dated(path, DATES, on_error="skip")
    assert [revisions(items, snapshot) for snapshot in (0, 1)] == [{"Dale": 3}, {"Hill": 2, "Dale": 3}]
    assert ledger.skipped == 1


def test_a_revision_without_an_end(write):
    data = export(page("Hill", 1, dated(1, OLD))).replace(b"</revision>", b"")
    with pytest.raises(SourceError, match="a revision has no end"):
        read_dated(write("a.xml", data), DATES)


def test_a_version_over_the_limit_is_left_out_and_listed(write):
    nested = "{{a|" * 20_000
    path = write(
        "a.xml", export(page("Hill", 1, dated(1, OLD, nested), dated(2, NEW)), page("Dale", 2, dated(3, OLD)))
    )
    items, ledger = read_dated(path, DATES, wiki=WikiOptions(page_seconds=0.001))
    assert revisions(items, 1)["Hill"] == 2
    assert "Hill" not in revisions(items, 0)
    assert ledger.skipped >= 1
    assert "it took longer than 0.001 s to read the page" in ledger.problems[0]


def test_versions_that_are_together_too_large(write):
    """Four times what a page may take: its text is left out while it is read, and the page is listed."""
    rows = [dated(n, f"2012-12-{n:02}T00:00:00Z", noise(4_000, n)) for n in range(2, 29)]
    path = write("a.xml", export(page("Hill", 1, *rows), page("Dale", 2, dated(3, OLD))))
    history = HistoryOptions(tuple(f"2012-12-{n:02}T00:00:00Z" for n in range(3, 29)), 86_400)
    from entlink.sources.mediawiki.dumps import TooLargeError, parts, read_site

    (part,) = parts(path, max_page=10_000, windows=history.windows())
    found = list(part.pages({0}, read_site(path)))
    assert [type(each) for each in found[:1]] == [TooLargeError]
    assert "page 'Hill'" in str(found[0])
    assert "is over the limit of 10,000 bytes" in str(found[0])
    assert {each.title for each in found[1:]} == {"Dale"}


def test_a_war_of_edits_fits_in_the_limit(write):
    """What cannot be chosen any more is let go, so that a thousand versions of a month are as good as one."""
    rows = [dated(n, f"2012-12-{2 + n // 24:02}T{n % 24:02}:00:00Z", noise(400, n)) for n in range(600)]
    path = write("a.xml", export(page("Hill", 1, *rows)))
    from entlink.sources.mediawiki.dumps import parts, read_site

    (part,) = parts(path, max_page=10_000, windows=HistoryOptions(("2013-01-01T00:00:00Z",)).windows())
    (found,) = part.pages({0}, read_site(path))
    assert (found.revision, found.snapshots) == ("599", (0,))


@pytest.mark.parametrize("kind", list(PACK))
@pytest.mark.parametrize("version", ["0.3", "0.11"])
def test_whatever_it_is_packed_in(write, kind, version):
    data = export(
        *(
            page(f"Hill {n}", n, *(dated(10 * n + k, f"201{k}-01-01T00:00:00Z", noise(500, k)) for k in range(5)))
            for n in range(1, 30)
        ),
        version=version,
    )
    items, _ = read_dated(write(f"a.{kind}", PACK[kind](data)), DATES)
    wanted = {key: revision for key, (revision, *_) in plainly_chosen(data, DATES).items()}
    found = {
        (int(page.item.entity.external["page"]), at): page.item.entity.external["revision"]
        for page in items
        for at in page.snapshots
    }
    assert found == wanted


def test_only_an_export_has_a_history(write):
    source = open_source(write("a.csv", "id,title\na,A\n"))
    with pytest.raises(SourceError, match="only a wiki's export has a history"):
        source.as_history(HistoryOptions(("2013-01-01T00:00:00Z",)))


def test_an_article_that_has_become_a_draft_was_one(write):
    """Its namespace is that of the title it had."""
    lyre = (GOLDEN / "lyre.xml").read_text(encoding="utf8")
    head, draft = "<title>Lyre Railway</title>\n    <ns>0</ns>", "<title>Draft:Line</title>\n    <ns>118</ns>"
    assert head in lyre
    lyre = lyre.replace(head, draft)
    fields = {"comment": "moved [[Lyre Railway]] to [[Draft:Line]]"}
    moved = dated(1603, "2014-05-05T08:00:00Z", head="<parentid>1602</parentid>", **fields)
    place = lyre.index("</page>", lyre.index("Draft:Line"))
    items, _ = read_dated(write("a.xml", lyre[:place] + moved + lyre[place:]), "2013,2014,2015")
    assert ["Lyre Railway" in revisions(items, snapshot) for snapshot in range(3)] == [False, True, False]
    assert not any(isinstance(each.item, Page) and each.item.entity.title.startswith("Draft:") for each in items)
