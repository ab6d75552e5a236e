"""What a link reads is kept by content, and a variant is linked from it wherever the build's folder went."""

import shutil
from pathlib import Path

import pytest
from build_project import MAIN, TWICE, Project
from hypothesis import given
from hypothesis import strategies as st

from whence.build.capture import read_executable
from whence.build.flags import CommandLine
from whence.build.ir import canonical_text
from whence.build.linked import WHOLE_MODULE, keep_files, linker_words, passed_on
from whence.build.store import Store
from whence.build.variant import build_variant

PLAIN = "int half(int x) { return x / 2; }\n"
HALVES = MAIN.replace("twice(argc + 20)", "twice(half(argc + 41))").replace("int main", "int half(int);\nint main")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, monkeypatch)
    made.write(main_c=HALVES, twice_c=TWICE, half_c=PLAIN)
    made.cc("-c main.c twice.c")
    made.plain("-c half.c")
    return made


def relinked(project: Project, program: str = "prog") -> str:
    """What a variant prints that is linked after the folder of the build was removed."""
    kept = shutil.copy(project.folder / program, project.folder.parent / "kept")
    shutil.rmtree(project.folder)
    project.folder.mkdir()
    capture = read_executable(kept)
    texts = [canonical_text(module.bitcode.read_bytes()) for module in capture.modules]
    return project.output(build_variant(capture, "same", texts, [], project.folder.parent / "variant"))


def test_captured_objects_are_not_kept_and_others_are(project: Project) -> None:
    project.cc("main.o ./twice.o half.o -lm -o prog")
    link = read_executable(project.folder / "prog").link
    assert {name for name, digest in link.files.items() if digest == WHOLE_MODULE} == {"main.o", "./twice.o"}
    assert Path(Store().file(link.files["half.o"])).read_bytes() == (project.folder / "half.o").read_bytes()
    assert relinked(project) == "42\n"


def test_the_program_is_linked_with_what_it_was_linked_with(project: Project) -> None:
    project.cc("main.o twice.o half.o -o prog")
    before = read_executable(project.folder / "prog").link
    project.write(half_c=PLAIN.replace("x / 2", "x / 2 + 1"))
    project.plain("-c half.c")
    capture = read_executable(project.folder / "prog")
    texts = [canonical_text(module.bitcode.read_bytes()) for module in capture.modules]
    assert project.output(build_variant(capture, "same", texts, [], project.folder / "variant")) == "42\n"
    project.cc("main.o twice.o half.o -o prog")
    assert read_executable(project.folder / "prog").link != before


@pytest.mark.parametrize("kind", ["rcs", "rcsT"])
@pytest.mark.parametrize("link", ["main.o sub/libx.a", "main.o -Lsub/ -lx", "main.o -Wl,-L,sub,-lx", "main.o -L{} -lx"])
def test_archives_also_thin_ones(project: Project, kind: str, link: str) -> None:
    (project.folder / "sub").mkdir()
    project.run(["ar", kind, "sub/libx.a", "twice.o", "half.o"])
    project.cc(link.format(project.folder / "sub") + " -o prog")
    assert relinked(project) == "42\n"


def test_names_that_lead_out_of_the_folder(project: Project) -> None:
    (project.folder / "sub").mkdir()
    (project.folder / "half.o").rename(project.folder / "sub" / "half.o")
    inside = project.folder
    project.folder = inside / "sub"
    project.cc(f"../main.o ../sub/../twice.o {inside}/sub/half.o -o prog")
    assert relinked(project) == "42\n"


def test_scripts_of_the_linker(project: Project) -> None:
    project.write(exported_map="{ global: main; local: *; };\n", list_txt="{ main; };\n", more_ld="INPUT(half.o)\n")
    script = project.folder / "exported.map"
    project.cc(
        f"main.o twice.o -Wl,--version-script={script} -Xlinker --dynamic-list -Xlinker list.txt "
        "-Wl,more.ld -Wl,-Map -Wl,prog.map half.o -o prog -Wl,--allow-multiple-definition",
    )
    assert relinked(project) == "42\n"


def test_a_source_without_ir_is_kept_as_an_object(project: Project) -> None:
    project.write(half_S='#include "half.h"\nhalf: sar %edi\n mov %edi, %eax\n ret\n', half_h=".globl half\n")
    project.cc("-I. -Wall main.o twice.c -x assembler-with-cpp half.S -x none -o prog -lm")
    assert relinked(project) == "42\n"


def test_a_shared_library_of_the_build(project: Project) -> None:
    (project.folder / "lib").mkdir()
    project.plain("-shared -fPIC half.c -o lib/libhalf.so")
    project.cc(f"main.o twice.o -Llib -lhalf -Wl,-rpath,{project.folder.parent / 'installed'} -o prog")
    shutil.copytree(project.folder / "lib", project.folder.parent / "installed")
    assert relinked(project) == "42\n"


def test_what_belongs_to_the_system_is_not_kept(project: Project) -> None:
    line = CommandLine(["main.o", "-lm", "-L/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/libm.a", "gone.o"])
    assert set(keep_files(line, str(project.folder), Store())) == {"main.o"}


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("-Wl,-rpath,lib,-T,x.ld", [("-rpath", "lib", False), ("-T", "x.ld", True)]),
        ("-Wl,--version-script=a.map,-z,now", [("--version-script", "a.map", True), ("-z", "now", False)]),
        ("-Wl,-lx,-Llib,liby.a", [("-l", "x", False), ("-L", "lib", False), ("", "liby.a", True)]),
        ("-Wl,--no-as-needed,--defsym=a=b", [("--no-as-needed", "", False), ("--defsym", "a=b", False)]),
    ],
)
def test_words_for_the_linker(option: str, expected: list[tuple[str, str, bool]]) -> None:
    assert [(w.name, w.value, w.reads) for w in linker_words(passed_on([option]) or [])] == expected


@given(st.lists(st.sampled_from(["-T", "a.ld", "-z", "now", "-la", "-L", "lib", "--gc-sections", "x.o", "-R"])))
def test_no_word_for_the_linker_is_lost(parts: list[str]) -> None:
    assert [word for found in linker_words(parts) for word in found.words] == parts
