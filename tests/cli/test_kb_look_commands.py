"""`entlink kb info`, `show`, `search`, `aliases` and `rules` end to end."""

from __future__ import annotations


def test_info(run, own):
    about = run("kb", "info", own, "--json").json
    assert (about["entities"], about["links"], about["links_unresolved"]) == (6, 10, 1)
    assert (about["pending_edits"], about["rules"], about["store_version"]) == (0, 0, 3)
    assert about["types"]["planet"] == 1
    (source,) = about["sources"]
    assert (source["name"], source["records"], len(source["sha256"])) == ("articles.jsonl", 7, 64)
    assert 0 < about["index_bytes"] < about["bytes"]
    shown = run("kb", "info", own).out
    assert "  entities        6\n" in shown
    assert f"    sha256 {source['sha256']}\n" in shown


def test_info_verifies(run, own):
    fine = run("kb", "info", own, "--verify")
    assert (fine.code, "files are as they were written" in fine.out) == (0, True)
    (own / "index-1" / "groups-00.bin").write_bytes(b"other")
    broken = run("kb", "info", own, "--verify")
    assert broken.code == 4
    assert "index-1/groups-00.bin was altered or cut off. Run `entlink kb index" in broken.err


def test_info_tells_that_an_edited_database_has_no_checksum(run, own, monkeypatch):
    monkeypatch.setattr("entlink.kb.store.edits._SMALL", 0)
    assert run("kb", "pin", own, "Sol", "sun").code == 0
    told = f"its entities read. `entlink kb index {own}` takes a new one\n"
    assert run("kb", "info", own, "--verify").out.endswith(told)
    assert run("kb", "index", own).code == 0
    assert "takes a new one" not in run("kb", "info", own, "--verify").out


def test_show_a_dated_entity(run, toy):
    shown = run("kb", "show", toy, "iran")
    assert shown.out.startswith("Iran (iran)\n")
    assert "  1500-01-01 to 1935-03-21  Persia\n" in shown.out
    assert "  1935-03-21 to …           Iran\n" in shown.out
    past = run("kb", "show", toy, "iran", "--as-of", "1900", "--json").json
    assert past["entity"]["title"] == "Persia"
    assert [version["entity"]["title"] for version in past["versions"]] == ["Persia", "Iran"]


def test_show_names_with_counts(run, toy):
    names = run("kb", "show", toy, "mercury-element", "--json").json["names"]
    assert {name["name"] for name in names} == {"Mercury (element)", "Mercury", "quicksilver"}
    (quicksilver,) = (name for name in names if name["name"] == "quicksilver")
    assert quicksilver["probability"] == 1.0
    assert quicksilver["sources"] == ["alias", "anchor"]
    assert "quicksilver" in run("kb", "show", toy, "Mercury (element)").out


def test_show_by_another_identifier(run, toy):
    assert run("kb", "show", toy, "Q308", "--json").json["entity"]["id"] == "mercury-planet"


def test_show_an_unknown_entity(run, toy):
    done = run("kb", "show", toy, "pluto")
    assert (done.code, done.out) == (4, "")
    assert "no entity 'pluto'. `entlink kb search` finds entities by name" in done.err


def test_search(run, toy):
    assert [one["entity"] for one in run("kb", "search", toy, "mercury", "--json").json] == [
        "mercury-planet",
        "mercury-element",
    ]
    assert run("kb", "search", toy, "mercury", "--type", "element", "--json").json[0]["entity"] == "mercury-element"
    assert len(run("kb", "search", toy, "mercury", "--limit", "1", "--json").json) == 1
    assert (
        run("kb", "search", toy, "quicksi").out
        == "mercury-element  Mercury (element)  element  beginning: quicksilver\n"
    )
    assert run("kb", "search", toy, "zzzz").out == f"nothing in {toy} is named like 'zzzz'\n"
    assert run("kb", "search", toy, " ").code == 3


def test_aliases(run, toy):
    told = run("kb", "aliases", toy, "Mercury", "--json").json
    assert [one["entity"] for one in told["meanings"]] == ["mercury-planet", "mercury-element"]
    assert sum(one["probability"] for one in told["meanings"]) == 1.0
    assert told["link_probability"] == 1.0
    assert told["meanings"][0]["tier"] == "exact"
    shown = run("kb", "aliases", toy, "mercury").out
    assert shown.startswith("entity           title              P(e|m)")
    assert "met at the tier case as 'Mercury'\n" in shown
    assert "P(link|m) 1.000" in shown


def test_aliases_of_a_date(run, toy):
    assert run("kb", "aliases", toy, "Persia").out == "'Persia' names nothing\n"
    (then,) = run("kb", "aliases", toy, "Persia", "--as-of", "1900", "--json").json["meanings"]
    assert (then["entity"], then["title"]) == ("iran", "Persia")


def test_rules(run, own):
    assert run("kb", "rules", own).out == "no pins and no blocks\n"
    run("kb", "pin", own, "the planet", "Q308")
    run("kb", "block", own, "Sun", "--case-sensitive")
    assert run("kb", "rules", own).out == (
        "block  Sun         as written\npin    the planet  any case    Mercury (planet) (mercury-planet)\n"
    )
    assert run("kb", "rules", own, "--json").json[1] == {
        "surface": "the planet",
        "case_sensitive": False,
        "entity": "mercury-planet",
        "title": "Mercury (planet)",
    }
    assert run("kb", "aliases", own, "The planet").out.endswith("'The planet' is pinned by a rule\n")
    assert run("kb", "aliases", own, "Sun").out == "'Sun' is blocked by a rule\n"
