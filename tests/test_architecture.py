"""The rules of the layout, read from the source itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import entlink

ROOT = Path(entlink.__file__).parent
LIBRARY = sorted(ROOT.rglob("*.py"))
COMMAND_LINE = sorted((ROOT.parent / "entlink_cli").rglob("*.py"))
FILES = [*LIBRARY, *COMMAND_LINE]
HEAVY = ("torch", "duckdb", "rich", "numpy", "pandas", "spacy", "pyspark", "pyarrow")
MOST_FILES_A_FOLDER = 25

# What each room may import beside itself. A module without a folder is a room of its own.
_RECORDS = {"documents", "errors", "interfaces", "version"}
_GROUND = {*_RECORDS, "io", "text"}
_FIRST = {*_GROUND, "engine", "sources", "encoders", "formats", "kb"}
_STAGES = ("mentions", "candidates", "evidence", "ranking", "nil")
_FOR_STAGES = {*_GROUND, "encoders", "kb"}
_SECOND = {*_FIRST, *_STAGES, "linking", "evaluation", "datasets"}
MAY_IMPORT: dict[str, set[str]] = {
    "version": set(),
    "errors": set(),
    "documents": set(),
    "interfaces": {"documents"},
    "text": _RECORDS,
    "io": {*_RECORDS, "text"},
    "engine": _GROUND,
    "sources": _GROUND,
    "encoders": _GROUND,
    "formats": _GROUND,
    "kb": {*_GROUND, "engine", "sources", "encoders"},
    **dict.fromkeys(_STAGES, _FOR_STAGES),
    "linking": {*_GROUND, "kb", "formats", "encoders"},
    "evaluation": _FIRST,
    "datasets": _FIRST,
    "learning": _SECOND,
    "studies": {*_SECOND, "learning"},
    "plugs": _SECOND,
    "testing": _SECOND,
    "_moved": set(),
    "__init__": {*_SECOND, "_moved"},
    "__main__": set(),
}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf8"))


def imports(path: Path, *, at_module_level: bool = False) -> Iterator[str]:
    """Every module a file imports, in functions too, those imported from a package included."""
    tree = tree_of(path)
    for node in module_level(tree) if at_module_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module_of(path).rsplit(".", node.level)[0] + "." if node.level else ""
            base = f"{package}{node.module or ''}".rstrip(".")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def module_level(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run when the module is imported: not those in functions, nor those for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from (inner for child in node.orelse for inner in (child, *module_level(child)))
            continue
        yield node
        yield from module_level(node)


def rooms_imported(path: Path) -> set[str]:
    """The rooms a file imports; the whole package counts as `__init__`."""
    names = [name.split(".") for name in imports(path) if name.split(".")[0] == "entlink"]
    inner = {name[1] for name in names if len(name) > 1}
    rooms = {name for name in inner if (ROOT / name).is_dir() or (ROOT / f"{name}.py").exists()}
    return rooms | ({"__init__"} if inner - rooms else set())


def test_every_room_imports_only_what_is_below_it():
    """The floors of `docs/architecture.md`, imports inside functions and for type checkers included."""
    assert {room_of(path) for path in LIBRARY} == set(MAY_IMPORT)
    upward = {
        module_of(path): sorted(wrong)
        for path in LIBRARY
        if (wrong := rooms_imported(path) - MAY_IMPORT[room_of(path)] - {room_of(path)})
    }
    assert upward == {}


def test_no_two_rooms_import_each_other():
    imported = {room: set[str]() for room in MAY_IMPORT}
    for path in LIBRARY:
        imported[room_of(path)] |= rooms_imported(path)
    cycles = [(a, b) for a in imported for b in imported[a] if a < b and a in imported.get(b, ())]
    assert cycles == []


def test_a_folder_fits_on_a_screen():
    folders = {path.parent for path in FILES}
    assert [str(each) for each in folders if len(list(each.glob("*.py"))) > MOST_FILES_A_FOLDER] == []


def test_the_store_of_a_knowledge_base_knows_nothing_of_how_it_is_built():
    above = ("entlink.kb.build", "entlink.kb.indexes", "entlink.kb.knowledge_base")
    for path in (ROOT / "kb" / "store").rglob("*.py"):
        assert not [name for name in imports(path) if name.startswith(above)], module_of(path)


def test_the_knowledge_base_knows_of_sources_what_they_offer():
    from entlink import sources

    for path in (ROOT / "kb").rglob("*.py"):
        used = {name for name in imports(path) if name.startswith("entlink.sources.")}
        assert used <= {f"entlink.sources.{name}" for name in sources.__all__}, module_of(path)


def test_no_step_of_a_build_knows_which_engine_runs_it():
    """Only where an engine is made is one named, and the names that it offers are those of the protocol."""
    for path in (path for room in ("kb", "datasets") for path in (ROOT / room).rglob("*.py")):
        names = set(imports(path))
        assert not {name for name in names if name.split(".")[0] in ("duckdb", "pyspark")}, module_of(path)
        assert not {name for name in names if name.startswith("entlink.engine.spark")}, module_of(path)
        local = {name for name in names if name.startswith("entlink.engine.local")}
        assert local <= {"entlink.engine.local", "entlink.engine.local.LocalEngine"}, module_of(path)


def test_spark_is_imported_when_it_is_used_only():
    for path in FILES:
        top = {name.split(".")[0] for name in imports(path, at_module_level=True)}
        assert not top & {"pyspark", "py4j", "pyarrow"}, module_of(path)


def test_the_library_does_not_import_its_command_line():
    users = [path for path in LIBRARY if any(name.startswith("entlink_cli") for name in imports(path))]
    assert [module_of(path) for path in users] == ["entlink.__main__"]


def test_torch_is_imported_where_models_are_trained_only():
    for path in (path for path in FILES if "learning" not in path.parts):
        top = {name.split(".")[0] for name in imports(path, at_module_level=True)}
        assert not top & {"torch", "transformers"}, module_of(path)


def test_only_the_command_line_prints():
    for path in LIBRARY:
        calls = (node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call))
        assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"], module_of(path)


def test_every_file_says_what_it_is_for():
    texts = {path: path.read_text(encoding="utf8") for path in FILES}
    assert [path for path, text in texts.items() if text.strip() and not ast.get_docstring(ast.parse(text))] == []


@pytest.mark.parametrize("module", ["entlink", "entlink_cli"])
def test_what_starts_at_once_loads_nothing_heavy(module):
    script = f"import sys; import {module}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert module in loaded
    assert not loaded & set(HEAVY)


def test_linking_loads_neither_the_engine_nor_a_framework(world_folder):
    script = "import sys, entlink; entlink.load(sys.argv[1]).link('Mercury'); print(*sys.modules)"
    command = [sys.executable, "-c", script, world_folder]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in ran.stdout.split()}
    assert not loaded & set(HEAVY)


def test_all_public_names_resolve():
    assert sorted(entlink.__all__) == sorted(set(entlink.__all__))
    for name in entlink.__all__:
        assert getattr(entlink, name) is not None
    assert set(dir(entlink)) == set(entlink.__all__)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'telepathy'"):
        _ = entlink.telepathy


def test_a_module_under_its_old_path_is_the_same_module_and_warns():
    from importlib import import_module

    from entlink._moved import MOVED

    for old, new in MOVED.items():
        sys.modules.pop(old, None)
        with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
            assert import_module(old) is import_module(new)
        assert import_module(new).__spec__.name == new


def test_errors_are_drawn_as_they_are():
    """The tree at the top of errors.py names every error, each under its parent."""
    from entlink import errors

    drawn = [line.strip("│├└─ ").split()[0] for line in (errors.__doc__ or "").splitlines() if "Error" in line]
    classes = [name for name, value in vars(errors).items() if isinstance(value, type)]
    assert sorted(drawn) == sorted(classes)
    assert all(issubclass(getattr(errors, name), errors.EntlinkError) for name in classes)
