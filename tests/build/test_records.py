import io
import subprocess
from pathlib import Path

import pytest
from build_project import Project
from elftools.elf.elffile import ELFFile
from hypothesis import given
from hypothesis import strategies as st

from whence.build.archive import members
from whence.build.records import Record, append_section, decode, read_records, relocatable
from whence.build.symbols import defined_globals, weakened

field = st.text(st.characters(codec="utf-8", exclude_characters="\t"))


def fields(records: list[Record]) -> list[tuple[str, str, str]]:
    return [(r.kind, r.key, r.path) for r in records]


@pytest.fixture(scope="module")
def thing(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("thing")
    with pytest.MonkeyPatch.context() as patch:
        project = Project(folder, patch)
        project.write(a_c="int shared = 1; static int own; int f(void) { return own++; } int g(void) { return f(); }")
        project.plain("-g -ffunction-sections -c a.c")
    return (project.folder / "a.o").read_bytes()


@given(st.lists(st.tuples(field, field, field)))
def test_records_are_read_back_in_order(rows: list[tuple[str, str, str]]) -> None:
    assert fields(decode(b"".join(Record(*row).encode() for row in rows))) == rows


@given(field, field)
def test_relocatable_holds_its_records(key: str, path: str) -> None:
    content = relocatable(Record("link", key, path).encode(), 62)
    assert fields(read_records(io.BytesIO(content))) == [("link", key, path)]


def test_relocatable_keeps_the_stack_not_executable() -> None:
    elf = ELFFile(io.BytesIO(relocatable(b"", 62)))
    assert elf.get_section_by_name(".note.GNU-stack")["sh_flags"] == 0


@given(st.binary(max_size=200))
def test_files_of_other_kinds_hold_no_records(content: bytes) -> None:
    assert read_records(io.BytesIO(content)) == []
    assert read_records(io.BytesIO(b"\x7fELF\x02\x01\x01" + content)) == []


def test_appending_changes_nothing_else(thing: bytes) -> None:
    file = io.BytesIO(thing)
    append_section(file, Record("module", "k", "/a.c").encode())
    before, after = ELFFile(io.BytesIO(thing)), ELFFile(file)
    sections = list(after.iter_sections())
    assert after.num_sections() == before.num_sections() + 1
    names = after.header["e_shstrndx"]
    for index, (old, new) in enumerate(zip(before.iter_sections(), sections, strict=False)):
        assert old.name == new.name
        assert index == names or (old.header == new.header and old.data() == new.data())
    assert sections[-1].name == ".whence"
    assert fields(read_records(file)) == [("module", "k", "/a.c")]
    assert fields(read_records(file)) == fields(decode(sections[-1].data()))


def test_appending_to_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="not a little-endian"):
        append_section(io.BytesIO(b"BC\xc0\xde" + bytes(100)), b"")


def test_weakened_definitions_are_no_longer_strong(thing: bytes) -> None:
    assert defined_globals(thing) == {"shared", "f", "g"}
    weak = weakened(thing)
    assert defined_globals(weak) == set()
    symbols = {
        s.name: s["st_info"]["bind"] for s in ELFFile(io.BytesIO(weak)).get_section_by_name(".symtab").iter_symbols()
    }
    assert symbols["f"] == "STB_WEAK"
    assert symbols["own"] == "STB_LOCAL"


@pytest.mark.parametrize("kind", ["rcs", "rcsT"])
def test_archive_members(tmp_path: Path, kind: str) -> None:
    contents = {"a.o": b"odd", "a_very_long_member_name_indeed.o": b"even", "b.o": b""}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    subprocess.run(["ar", kind, "lib.a", *contents], cwd=tmp_path, check=True)
    assert {m.name: m.read() for m in members(tmp_path / "lib.a")} == contents
