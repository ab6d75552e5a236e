"""Damage to the store and to variants: made anew from what is left, else one line that says what to do."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from build_project import MAIN, TWICE, Project
from damage import DAMAGES, empty, garble, remove, truncate

from whence.build.capture import read_executable
from whence.build.store import Store, is_sealed, seal, sealed, unsealed
from whence.errors import BuildError, WhenceError
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.subject.subject import Subject

SAME = "int same(int x) { return x; }\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project whose runtime is compiled once."""
    with pytest.MonkeyPatch.context() as patch:
        yield Project(tmp_path_factory.mktemp("mend"), patch)


@pytest.fixture
def project(shared: Project) -> Project:
    main = (
        MAIN.replace("twice(argc", "twice(same(argc")
        .replace("20)", "20))")
        .replace("int main", "int same(int);\nint main")
    )
    shared.write(main_c=main, twice_c=TWICE, same_c=SAME)
    shared.cc("-c -O1 main.c twice.c")
    shared.plain("-c same.c")
    shared.cc("main.o twice.o same.o -o prog")
    return shared


def stored(project: Project, kind: str) -> list[Path]:
    found = sorted(p for p in (project.folder.parent / "home" / kind).rglob("*") if p.is_file())
    assert found
    return found


def recorded(project: Project) -> bytes:
    """What the record variant prints, for a command that starts now."""
    subject = Subject(project.folder, project.folder / "prog", [])
    with subject.runner(Variant.RECORD) as runner:
        return runner.run_case(Case("case")).stdout


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["store/ir", "store/files", "store/objects", "variants"])
def test_what_is_damaged_is_made_anew(project: Project, kind: str, damage: Callable[[Path], None]) -> None:
    assert recorded(project) == b"42\n"  # all is there
    before = {path: path.read_bytes() for path in stored(project, kind)[:6]}  # of the runtime's objects not all
    for path in before:
        damage(path)
    if kind != "variants":
        for path in stored(project, "variants"):  # or nothing would have to be linked
            remove(path)
    assert recorded(project) == b"42\n"
    if kind in ("store/ir", "store/files"):
        assert {path: path.read_bytes() for path in stored(project, kind)} == before


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["captures", "links"])
def test_what_only_the_build_knows_is_asked_for_in_one_line(
    project: Project, kind: str, damage: Callable[[Path], None]
) -> None:
    for path in stored(project, f"store/{kind}"):
        damage(path)
    with pytest.raises(WhenceError, match="is no longer in") as caught:
        recorded(project)
    assert caught.value.hint == "build the program again"
    for command in ("-c -O1 main.c twice.c", "main.o twice.o same.o -o prog"):
        project.cc(command)
    assert recorded(project) == b"42\n"


def test_ir_is_not_made_from_another_source(project: Project) -> None:
    Path(read_executable(project.folder / "prog").modules[1].bitcode).unlink()
    project.write(twice_c=TWICE.replace("2", "3"))
    with pytest.raises(BuildError, match=r"the IR of .*twice\.c is no longer in") as caught:
        read_executable(project.folder / "prog")
    assert caught.value.hint == "build the program again"


def test_a_file_of_the_link_is_not_taken_from_another_build(project: Project) -> None:
    for path in [*stored(project, "store/files"), *stored(project, "variants")]:
        truncate(path)
    project.write(same_c=SAME.replace("x;", "x + 1;"))
    project.plain("-c same.c")
    with pytest.raises(BuildError, match=r"same\.o, linked into the program, is no longer in") as caught:
        recorded(project)
    assert caught.value.hint == "build the program again"


def test_kept_content_is_written_again_where_it_is_cut_short(project: Project) -> None:
    store = Store()
    path = Path(store.file(store.keep(b"some content")))
    truncate(path)
    store.keep(b"some content")
    assert path.read_bytes() == b"some content"


def test_a_damaged_program_is_told(project: Project) -> None:
    program = project.folder / "prog"
    for damage in (garble, truncate, empty):
        damage(program)
        with pytest.raises(BuildError, match="holds no captured IR"):
            read_executable(program)


@pytest.mark.parametrize("damage", DAMAGES)
def test_seals(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"some content\n")
    assert not is_sealed(str(path))
    seal(str(path))
    assert is_sealed(str(path))
    assert path.read_bytes() == sealed(b"some content\n")
    damage(path)
    assert not is_sealed(str(path))
    assert unsealed(sealed(b"")) == b""
    assert unsealed(b"") is None
