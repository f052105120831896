"""The rules of expansion that a user writes: how they are laid over the shipped ones, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from entlink.errors import ConfigError
from entlink.sources.wikitext.templates.expansion import load_rules, template_name


def expand(written: str, rules: Path) -> str | None:
    name, *arguments = written.split("|")
    return load_rules(rules)(template_name(name), arguments)


def rules_file(folder: Path, text: str) -> Path:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_users_rules_are_laid_over_the_shipped_ones(tmp_path: Path) -> None:
    rules = rules_file(
        tmp_path,
        """
        [spell]
        also = ["Charm", "Hex-*"]
        text = ["''{1}'' ({effect|2})", "''{1}''"]

        [small]
        drop = true

        [metres]
        builtin = "convert"
        defaults = { 2 = "m", 3 = "ft", abbr = "on" }

        ["potion list"]
        text = "Potions: {*}; {{{0}}}"
        join = " and "
        """,
    )
    assert expand("spell|Lumos|light", rules) == "''Lumos'' (light)"
    assert expand("charm|Lumos|effect=light", rules) == "''Lumos'' (light)"
    assert expand("hex-minor|Jinx", rules) == "''Jinx''"
    assert expand("small|gone", rules) is None
    assert expand("smaller|kept", rules) == "kept"
    assert expand("metres|12", rules) == "12 m (39 ft)"
    assert expand("potion list|a||b", rules) == "Potions: a and b; {Potion list}"
    assert expand("lang|fr|oui", rules) == "oui"


def test_exact_names_go_before_wildcards_and_longer_wildcards_before_shorter(tmp_path: Path) -> None:
    rules = rules_file(
        tmp_path, '["x*"]\ntext = "any"\n["x-long-*"]\ntext = "long"\n["x-long-exact"]\ntext = "exact"\n'
    )
    assert [expand(name, rules) for name in ("x", "x-lo", "x-long-a", "x-long-exact")] == [
        "any",
        "any",
        "long",
        "exact",
    ]


@pytest.mark.parametrize(
    ("text", "rule", "told"),
    [
        ("[a]\nalso = ['b']", "[a]", "give either text"),
        ("[a]\ntext = '{1}'\ndrop = true", "[a]", "give either text"),
        ("[a]\ntext = []", "[a]", "drop = true"),
        ("[a]\ntext = '{1'", "[a]", "a brace alone"),
        ("[a]\ntext = '1}'", "[a]", "a brace alone"),
        ("[a]\ntext = '{}'", "[a]", "names no argument"),
        ("[a]\ntext = '{|}'", "[a]", "names no argument"),
        ("[a]\ntext = 5", "[a]", "Expected"),
        ("[a]\ntxt = '{1}'", "[a]", "txt"),
        ("[a.b]\ntext = '{1}'", "[a]", "quote a name that holds a dot"),
        ("a = 'text'", "[a]", "A rule is a table"),
        ("[a]\nbuiltin = 'covert'", "[a]", "did you mean 'convert'?"),
        ("[a]\ntext = 'x'\nalso = ['b*c']", "[a]", "at its end"),
        ("['*']\ntext = 'x'", "[*]", "no name of a template"),
        ("[a]\ntext = 'x'\n[b]\ntext = 'y'\nalso = ['A']", "[b]", "rule [a] already"),
    ],
)
def test_a_bad_rule_is_refused_by_file_and_name(tmp_path: Path, text: str, rule: str, told: str) -> None:
    path = rules_file(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        load_rules(path)
    assert str(refused.value).startswith(f"{path}: rule {rule}: ")
    assert told in str(refused.value)


def test_a_file_that_cannot_be_read_or_is_not_toml(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.toml: cannot be read"):
        load_rules(tmp_path / "missing.toml")
    with pytest.raises(ConfigError, match=r"rules\.toml: not TOML"):
        load_rules(rules_file(tmp_path, "[birth date]\ntext = 'x'"))
