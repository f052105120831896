from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import entlink
from entlink import Linker
from entlink.kb.knowledge_base import KnowledgeBase
from knowledge_bases import SHARED_DATA, WORLD, make_kb
from personal_things import THINGS

MODELS = "ENTLINK_MODELS"
_OWN_MODELS = os.environ.get(MODELS)

# How long an example takes depends on what else the machine does. Where a change is judged, the examples are the same
# every time; elsewhere they are new ones, which find more.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("judging", settings.get_profile("patient"), derandomize=True)
settings.load_profile("judging" if os.environ.get("CI") else "patient")


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, also where it was ignored when the tests began: a shell does that to jobs behind it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def no_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test depends on which models are on the machine, nor changes them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(MODELS, str(tmp_path_factory.mktemp("models")))
        yield


@pytest.fixture(scope="module")
def machine_models() -> Iterator[None]:
    """The models of the machine, for a test that skips without them."""
    with pytest.MonkeyPatch.context() as patch:
        if _OWN_MODELS is None:
            patch.delenv(MODELS)
        else:
            patch.setenv(MODELS, _OWN_MODELS)
        yield


@pytest.fixture(scope="session")
def schools() -> Path:
    """The real data of the schools' Wikipedia."""
    folder = SHARED_DATA / "schools_wikipedia"
    if not folder.is_dir():
        pytest.skip(f"the real data sets are not at {SHARED_DATA}")
    return folder


@pytest.fixture(scope="session")
def built_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of `WORLD` as it was built, to copy."""
    return make_kb(tmp_path_factory.mktemp("world"), WORLD, "world")


@pytest.fixture(scope="session")
def world_folder(built_world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that tests only read; what they look up may make indexes in it."""
    return Path(shutil.copytree(built_world, tmp_path_factory.mktemp("read") / "world.kb"))


@pytest.fixture
def world(world_folder: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(world_folder) as kb:
        yield kb


@pytest.fixture
def own_world(built_world: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(built_world, tmp_path / "own.kb"))


@pytest.fixture(scope="session")
def built_kbs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds knowledge bases, those of the same rows and options once."""

    @cache
    def built(rows: str, options: tuple[tuple[str, object], ...]) -> Path:
        return make_kb(tmp_path_factory.mktemp("built"), json.loads(rows), **dict(options))

    return built


@pytest.fixture
def copied_kb(built_kbs: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Gives copies of knowledge bases that are built once: for a test that may change them."""

    def copied(rows: list[dict[str, object]], name: str = "made", **options: object) -> Path:
        built = built_kbs(json.dumps(rows), tuple(sorted(options.items())))
        return Path(shutil.copytree(built, tmp_path / f"{name}.kb"))

    return copied


@pytest.fixture
def opened() -> Iterator[Callable[..., KnowledgeBase]]:
    """Opens knowledge bases and closes them after the test."""
    kbs: list[KnowledgeBase] = []

    def opened(folder: Path, **settings: object) -> KnowledgeBase:
        kbs.append(KnowledgeBase.open(folder, **settings))
        return kbs[-1]

    yield opened
    for kb in kbs:
        kb.close()


@pytest.fixture(scope="session")
def things(tmp_path_factory):
    """A knowledge base of what people call their own."""
    return make_kb(tmp_path_factory.mktemp("things"), THINGS, "things")


@pytest.fixture
def loaded(things):
    """Loads linkers of these things and closes them after the test."""
    linkers: list[Linker] = []

    def loaded(personal: bool | str = True, **settings) -> Linker:
        linkers.append(entlink.load(things, personal=personal, **{"config": "lexical", **settings}))
        return linkers[-1]

    yield loaded
    for linker in linkers:
        linker.kb.close()
