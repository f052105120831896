"""The rules of the layout, read from the source itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import entlink

ROOT = Path(entlink.__file__).parent
LIBRARY = sorted(ROOT.rglob("*.py"))
COMMAND_LINE = sorted((ROOT.parent / "entlink_cli").rglob("*.py"))
FILES = [*LIBRARY, *COMMAND_LINE]
STAGES = ("mentions", "candidates", "ranking", "nil")
NEUTRAL = ("spans",)  # helpers that belong to no stage
FOR_STAGES = {"documents", "interfaces", "errors", "kb", "encoders", *NEUTRAL}
MOST_LINES_A_FILE, MOST_LINES_A_FUNCTION = 400, 60
HEAVY = ("torch", "duckdb", "rich", "numpy", "pandas", "spacy")


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, *, at_module_level: bool = False) -> Iterator[str]:
    """Every module a file imports, those imported from a package included."""
    tree = ast.parse(path.read_text(encoding="utf8"))
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


def stage_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "entlink" and parts[1] in STAGES else None


@pytest.fixture(params=FILES, ids=lambda path: str(path.relative_to(ROOT.parent)))
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_the_records_import_nothing_of_ours():
    assert [name for name in imports(ROOT / "documents.py") if name.startswith("entlink")] == []


def not_for_stages(own: str, names: Iterable[str]) -> set[str]:
    """Those of the imported modules of ours that a stage has no business with; the whole package is one."""
    allowed = [f"entlink.{part}" for part in (*FOR_STAGES, own)]
    ours = {name for name in names if name.split(".")[0] in ("entlink", "entlink_cli")}
    return {name for name in ours if not any(f"{name}.".startswith(f"{part}.") for part in allowed)}


def test_a_stage_imports_only_what_stages_may():
    stages = [(stage, path) for path in LIBRARY if (stage := stage_of(module_of(path)))]
    assert {stage for stage, _ in stages} == set(STAGES)
    for stage, path in stages:
        assert not not_for_stages(stage, imports(path)), module_of(path)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("entlink.documents", True),
        ("entlink.kb.aliases.Meaning", True),
        ("entlink.mentions.overlaps", True),
        ("collections.abc", True),
        ("entlink.candidates.alias", False),
        ("entlink.linker", False),
        ("entlink.kbx", False),
        ("entlink.formats.frames", False),
        ("entlink", False),
        ("entlink_cli.kb", False),
    ],
)
def test_what_stages_may_import(name, allowed):
    assert (not not_for_stages("mentions", [name])) is allowed


def test_the_knowledge_base_imports_no_stage():
    for path in (ROOT / "kb").rglob("*.py"):
        assert not {stage_of(name) for name in imports(path)} - {None}, module_of(path)


def test_the_knowledge_base_knows_of_sources_what_they_offer():
    from entlink import sources

    for path in (ROOT / "kb").rglob("*.py"):
        used = {name for name in imports(path) if name.startswith("entlink.sources.")}
        assert used <= {f"entlink.sources.{name}" for name in sources.__all__}, module_of(path)


def test_evaluation_imports_no_stage():
    files = sorted((ROOT / "evaluation").rglob("*.py"))
    if not files:
        pytest.skip("there is no evaluation folder yet")
    for path in files:
        assert not {stage_of(name) for name in imports(path)} - {None}, module_of(path)


def test_the_library_does_not_import_its_command_line(path):
    if path in LIBRARY and path.name != "__main__.py":
        assert not [name for name in imports(path) if name.startswith("entlink_cli")]


def test_torch_is_imported_where_models_are_trained_only(path):
    if "learning" not in path.parts:
        top = {name.split(".")[0] for name in imports(path, at_module_level=True)}
        assert not top & {"torch", "transformers"}


def test_a_file_is_short_enough_to_read(path):
    lines = path.read_text(encoding="utf8").count("\n")
    assert lines <= MOST_LINES_A_FILE


def test_functions_are_short_enough_to_read(path):
    tree = ast.parse(path.read_text(encoding="utf8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    long = [node.name for node in functions if (node.end_lineno or 0) - node.lineno + 1 > MOST_LINES_A_FUNCTION]
    assert long == []


def test_only_the_command_line_prints(path):
    if path in COMMAND_LINE:
        return
    tree = ast.parse(path.read_text(encoding="utf8"))
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]


def test_every_file_says_what_it_is_for(path):
    text = path.read_text(encoding="utf8")
    assert not text.strip() or ast.get_docstring(ast.parse(text))


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


def test_errors_are_drawn_as_they_are():
    """The tree at the top of errors.py names every error, each under its parent."""
    from entlink import errors

    drawn = [line.strip("│├└─ ").split()[0] for line in (errors.__doc__ or "").splitlines() if "Error" in line]
    classes = [name for name, value in vars(errors).items() if isinstance(value, type)]
    assert sorted(drawn) == sorted(classes)
    assert all(issubclass(getattr(errors, name), errors.EntlinkError) for name in classes)
