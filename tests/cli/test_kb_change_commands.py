"""`entlink kb add`, `remove`, `sync`, `pin`, `block` and `unpin` end to end."""

from __future__ import annotations

import subprocess
import sys

from entlink.io.atomic import write_lock


def entities(run, kb, text):
    return [link["entity"] for link in run("link", kb, "--config", "lexical", stdin=text.encode()).json["links"]]


def test_add_one_with_all_its_fields(run, own):
    words = ["--id", "moon", "--title", "Moon", "--description", "It shines.", "--alias", "Luna", "--alias", "月亮"]
    words += ["--type", "moon", "--language", "en", "--external", "wikidata=Q405", "--image", "moon.png"]
    words += ["--valid-from", "1600", "--weight", "3"]
    done = run("kb", "add", own, *words)
    assert (done.code, done.out) == (0, f"{own}: 1 entity added\n")
    shown = run("kb", "show", own, "Q405", "--json").json
    assert shown["entity"] == {
        "id": "moon",
        "title": "Moon",
        "description": "It shines.",
        "aliases": ["Luna", "月亮"],
        "types": ["moon"],
        "images": ["moon.png"],
        "language": "en",
        "external": {"wikidata": "Q405"},
    }
    assert shown["versions"][0]["valid_from"] == "1600-01-01"
    assert entities(run, own, "Luna, 月亮") == ["moon", "moon"]


def test_add_again_needs_replace(run, own):
    again = run("kb", "add", own, "--id", "sun", "--title", "Sol")
    assert (again.code, "--replace changes it" in again.err) == (4, True)
    assert run("kb", "add", own, "--id", "sun", "--title", "Sol", "--replace").out == f"{own}: 1 entity put\n"
    assert entities(run, own, "Sol") == ["sun"]


def test_add_a_table(run, own, tmp_path, write_lines):
    table = write_lines(tmp_path / "t.jsonl", [{"sku": "a", "name": "Lamp"}, {"sku": "b", "name": "Mug"}])
    done = run("kb", "add", own, "--from", table, "--columns", "id=sku")
    assert done.out == f"{own}: 2 entities added\n"
    assert entities(run, own, "Lamp, Mug") == ["a", "b"]


def test_add_needs_one_entity_or_a_table(run, own, tmp_path):
    assert "give --id and --title" in run("kb", "add", own, "--id", "x").err
    both = run("kb", "add", own, "--from", tmp_path / "t.csv", "--valid-from", "2000")
    assert (both.code, "--valid-from describes one entity and cannot go with --from" in both.err) == (2, True)
    assert run("kb", "add", own, "--id", "x", "--title", "X", "--columns", "id=sku").code == 2
    assert run("kb", "add", own, "--from", tmp_path / "none.csv").code == 3


def test_add_what_cannot_be(run, own):
    assert run("kb", "add", own, "--id", "x", "--title", " ").code == 3
    words = ["--valid-from", "2000", "--valid-to", "1999-05"]
    backwards = run("kb", "add", own, "--id", "x", "--title", "X", *words)
    assert (backwards.code, "valid_to '1999-05' is not after" in backwards.err) == (3, True)


def test_add_tells_when_an_index_is_due(run, own, monkeypatch):
    assert run("kb", "add", own, "--id", "x", "--title", "X").err == ""
    monkeypatch.setattr("entlink.kb.names.overlay.OVERLAY_CAP", 1)
    due = run("kb", "add", own, "--id", "y", "--title", "Y")
    assert (
        due.err
        == f"entlink: 2 entities changed since the last index: `entlink kb index {own}` makes linking fast again\n"
    )


def test_remove(run, own):
    assert run("kb", "remove", own, "sun", "Q308").out == f"{own}: 2 entities removed\n"
    assert entities(run, own, "The Sun") == []
    gone = run("kb", "remove", own, "nasa", "sun")
    assert (gone.code, "no entity 'sun'" in gone.err) == (4, True)
    assert run("kb", "show", own, "nasa").code == 0


def test_sync(run, own, tmp_path, write_lines):
    table = write_lines(tmp_path / "t.jsonl", [{"id": "sun", "name": "Sol"}, {"id": "moon", "name": "Moon"}])
    assert run("kb", "sync", own, table).out == f"{own}: 1 added, 1 changed, 0 unchanged, 0 removed\n"
    again = run("kb", "sync", own, table, "--delete", "--json").json
    assert again == {"added": 0, "changed": 0, "unchanged": 2, "removed": 5}
    assert run("kb", "info", own, "--json").json["entities"] == 2


def test_sync_dry(run, own, tmp_path, write_lines):
    rows = [{"id": "sun", "name": "Sol"}, *({"id": f"m{number}", "name": "Moon"} for number in range(22))]
    table, before = write_lines(tmp_path / "t.jsonl", rows), run("kb", "export", own, "-o", "-").out
    done = run("kb", "sync", own, table, "--delete", "--dry-run")
    first = ", ".join(f"m{number}" for number in range(20))
    others = "beijing, iran, mercury-element, mercury-planet, nasa"
    assert done.out == (
        f"{own}: 22 to be added, 1 to be changed, 0 unchanged, 5 to be removed; nothing was changed\n"
        f"  to be added    {first} and 2 more\n  to be changed  sun\n  to be removed  {others}\n"
    )
    told = run("kb", "sync", own, table, "--dry-run", "--json").json
    assert (told["added"], told["ids"]["changed"], told["ids"]["removed"]) == (22, ["sun"], [])
    assert run("kb", "export", own, "-o", "-").out == before


def test_add_waits_for_another_writer(own):
    words = ["kb", "add", str(own), "--id", "moon", "--title", "Moon"]
    with write_lock(own):
        hasty = subprocess.run([sys.executable, "-m", "entlink", *words], capture_output=True, timeout=60)
        patient = subprocess.Popen([sys.executable, "-m", "entlink", *words, "--wait"], stderr=subprocess.PIPE)
        told = patient.stderr.readline()
    assert (hasty.returncode, told.endswith(b"this one waits until that is done\n")) == (5, True)
    assert (patient.wait(timeout=60), patient.stderr.read()) == (0, b"")
    patient.stderr.close()


def test_pin_and_unpin(run, own):
    assert entities(run, own, "Mercury") == ["mercury-planet"]
    done = run("kb", "pin", own, "Mercury", "mercury-element")
    assert done.out == f"{own}: 'Mercury' now always means mercury-element\n"
    assert entities(run, own, "mercury") == ["mercury-element"]
    assert run("kb", "unpin", own, "Mercury").out == f"{own}: 1 rule on 'Mercury' lifted\n"
    assert entities(run, own, "Mercury") == ["mercury-planet"]
    again = run("kb", "unpin", own, "Mercury")
    assert (again.code, "`entlink kb rules` lists them" in again.err) == (4, True)


def test_pin_to_an_unknown_entity(run, own):
    assert run("kb", "pin", own, "Mercury", "freddie").code == 4
    assert run("kb", "block", own, " ").code == 3


def test_block_as_written(run, own):
    assert run("kb", "block", own, "Sun", "--case-sensitive").out == f"{own}: 'Sun' is no longer linked\n"
    assert entities(run, own, "Sun, SUN") == ["sun"]


def test_a_doubled_id_of_a_table_is_told_with_its_record(run, own, tmp_path):
    table = tmp_path / "dup.csv"
    table.write_text("id,title\nx,One\ny,Two\nx,Three\n")
    added = run("kb", "add", own, "--from", table)
    assert (added.code, f"{table}, record 3: the id 'x' appears a second time" in added.err) == (3, True)
    synced = run("kb", "sync", own, table)
    assert (synced.code, f"{table}, record 3: the id 'x' appears twice" in synced.err) == (3, True)
    table.write_text("id,title\nx,One\nsun,Two\n")
    there = run("kb", "add", own, "--from", table)
    assert (there.code, f"{table}, record 2: {own}: an entity 'sun' is there already" in there.err) == (4, True)
