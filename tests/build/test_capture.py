"""What read_executable finds, and identity variants re-linked from it, in every shape of build."""

import os
import subprocess
from pathlib import Path

import pytest
from build_project import MAIN, TWICE, WRAPPER, Project

from whence.build.capture import Capture, read_executable
from whence.build.ir import canonical_text, verify
from whence.build.quick import build_sources
from whence.build.toolchain import find_toolchain
from whence.build.variant import build_variant, compile_c
from whence.errors import BuildError, ProgramError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def names(capture: Capture) -> list[str]:
    return [module.name for module in capture.modules]


def texts(capture: Capture) -> list[str]:
    return [canonical_text(module.bitcode.read_bytes()) for module in capture.modules]


def marked(capture: Capture) -> list[str]:
    """IR in which every constant 2 of a multiplication is a 3, to prove whose code runs."""
    return [text.replace("mul nsw i32 2,", "mul nsw i32 3,") for text in texts(capture)]


def check_variants(project: Project, program: str, plain: str = "42\n", changed: str = "63\n") -> Capture:
    """The program, its identity variant and its marked variant print what they should; they need no folder."""
    capture = read_executable(project.folder / program)
    before = project.files()
    identity, other = project.folder.parent / "identity", project.folder.parent / "marked"
    assert project.output(program) == plain
    away = project.folder.rename(project.folder.with_name("away"))
    build_variant(capture, "identity", texts(capture), [], identity)
    build_variant(capture, "marked", marked(capture), [], other)
    away.rename(project.folder)
    assert project.output(identity) == plain
    assert project.output(other) == changed
    assert project.files() == before
    return capture


def test_a_source_that_only_compiles_optimised_is_captured_as_such(project: Project) -> None:
    needy = "#include <libintl.h>\n#ifdef __OPTIMIZE__\nint factor(void) { return 2; }\n#endif\n"
    project.write(main_c=MAIN, twice_c=needy + "int twice(int x) { int (*f)(void) = factor; return f() * x; }\n")
    project.cc("-O2 main.c twice.c -o prog")
    capture = read_executable(project.folder / "prog")
    assert capture.uncaptured == [] and names(capture) == ["main.c", "twice.c"]
    assert [module.arguments[0] for module in capture.modules] == ["-O2", "-D__OPTIMIZE__=1"]
    assert project.output("prog") == "42\n"


def test_builds_of_one_source_with_other_flags_know_their_own(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    for flag in ("-O2", "-O0"):
        project.cc(f"{flag} -c main.c twice.c")
        project.cc(f"main.o twice.o -o prog{flag}")
    fast, slow = (read_executable(project.folder / f"prog{flag}") for flag in ("-O2", "-O0"))
    assert [module.hash for module in fast.modules] == [module.hash for module in slow.modules]
    assert [module.arguments[0] for module in (*fast.modules, *slow.modules)] == ["-O2", "-O2", "-O0", "-O0"]


def test_objects(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("-O2 -c main.c")
    project.cc("-O2 -c twice.c")
    project.cc("-s -Wl,-Map,prog.map -Wl,--gc-sections main.o twice.o -o prog -lm")
    (project.folder / "prog.map").unlink()
    capture = check_variants(project, "prog")
    assert names(capture) == ["main.c", "twice.c"]
    assert capture.modules[0].source == str(project.folder / "main.c")
    assert "-O2" in capture.modules[0].arguments
    assert capture.link.output == str(project.folder / "prog")
    assert capture.uncaptured == []


def test_one_call(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("-x c main.c twice.c -x none -o prog -lm")
    assert names(check_variants(project, "prog")) == ["main.c", "twice.c"]


def test_sources_in_folders_and_a_link_from_elsewhere(project: Project) -> None:
    (project.folder / "src").mkdir()
    (project.folder / "src" / "main.c").write_text(MAIN)
    project.write(twice_c=TWICE)
    project.cc("src/../src/main.c ./twice.c -o prog")
    assert names(check_variants(project, "prog")) == ["src/main.c", "twice.c"]


def test_archive_with_an_uncaptured_member(project: Project) -> None:
    project.write(
        main_c=MAIN.replace("twice(argc + 20)", "twice(half(argc + 41))").replace(
            "int main", "int half(int);\nint main"
        )
    )
    project.write(twice_c=TWICE, half_s=".globl half\nhalf: sar %edi\n mov %edi, %eax\n ret\n", unused_c="int unused;")
    project.cc("-c main.c twice.c half.s unused.c")
    project.run(["ar", "rcs", "libx.a", "twice.o", "half.o", "unused.o"])
    project.cc("main.o -L. -lx -o prog")
    capture = check_variants(project, "prog")
    assert sorted(names(capture)) == ["main.c", "twice.c"]
    assert [u.rpartition("/")[2] for u in capture.uncaptured] == ["half.s: assembly"]
    project.cc("main.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive -o whole")
    assert sorted(names(check_variants(project, "whole"))) == ["main.c", "twice.c", "unused.c"]
    project.cc("main.o -L. -Wl,--whole-archive -lx -Wl,--no-whole-archive -o whole2")
    check_variants(project, "whole2")


def test_main_in_an_archive_gives_way_to_a_runtimes(project: Project, tmp_path: Path) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("-c main.c twice.c")
    project.run(["ar", "rcs", "libx.a", "main.o", "twice.o"])
    project.cc("libx.a -o prog")
    capture = read_executable(project.folder / "prog")
    runtime = tmp_path / "runtime.c"
    runtime.write_text(  # the program does not link the mathematical library that the runtime uses
        "#include <math.h>\n#include <stdio.h>\nint renamed(int, char **);\n"
        'int main(int n, char **v) { printf("%.0f\\n", cos(n - 1)); return renamed(n, v); }\n'
    )
    renamed = [t.replace("@main(", "@renamed(") for t in texts(capture)]
    build_variant(capture, "renamed", renamed, [compile_c(capture.toolchain, runtime, ["-O2"])], tmp_path / "out")
    assert project.output(tmp_path / "out") == "1\n42\n"


def test_a_variant_carries_no_debug_information(project: Project, tmp_path: Path) -> None:
    project.write(
        main_c=MAIN.replace("int twice(int);", "inline int twice(int x) { return 2 * x; }"),
        twice_c=TWICE,
    )
    project.cc("-O2 -g -c main.c")
    project.plain("-O2 -g -c twice.c")
    project.run(["ar", "rcs", "libx.a", "twice.o"])
    project.cc("main.o -L. -lx -o prog")
    capture = read_executable(project.folder / "prog")
    assert names(capture) == ["main.c"]  # the variant, which is not inlined, needs the archive's member too
    variant = build_variant(capture, "same", texts(capture), [], tmp_path / "out")
    assert project.output(variant) == "42\n"
    assert ".debug_info" in project.run(["readelf", "-SW", "prog"]).stdout
    assert ".debug_info" not in project.run(["readelf", "-SW", str(variant)]).stdout


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("kind", ["rcs", "rcsT"])
def test_members_that_only_a_variant_needs_are_captured(project: Project, kind: str, strip: bool) -> None:
    project.write(
        main_c=MAIN.replace("int twice(int);", "inline int twice(int x) { return 2 * x; }"),
        twice_c="int same(int);\nint twice(int x) { return 2 * same(x); }\n",
        same_c="int same(int x) { return x; }\n",
        other_c="int other(void) { return 1; }\n",
    )
    project.cc("-O2 -c main.c twice.c same.c other.c")
    project.run(["ar", kind, "libx.a", "twice.o", "other.o", "same.o"])
    project.cc(f"{'-s' if strip else ''} main.o -L. -lx -o prog")
    assert names(check_variants(project, "prog")) == ["main.c", "twice.c", "same.c"]


def test_an_archives_members_of_captured_and_other_parts(project: Project) -> None:
    project.write(
        main_c=MAIN.replace("twice(argc", "two(argc").replace("int twice", "int twice(int), two"),
        twice_c=TWICE,
        two_c="int twice(int);\nint two(int x) { return twice(x); }\n",
    )
    project.cc("-c main.c twice.c")
    project.plain("-c two.c")
    project.run(["ld", "-r", "twice.o", "two.o", "-o", "part.o"])
    project.run(["ar", "rcs", "libx.a", "part.o"])
    for link in ("main.o libx.a", "main.o -L. -lx", "main.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive"):
        project.cc(f"{link} -o prog")
        assert names(check_variants(project, "prog")) == ["main.c", "twice.c"]


@pytest.mark.parametrize("linker", ["ld -r", "wrapper"])
def test_partial_link(project: Project, linker: str) -> None:
    project.write(main_c=MAIN, twice_c=TWICE, other_c="int other(void) { return 1; }")
    project.cc("-c main.c twice.c other.c")
    if linker == "wrapper":
        project.cc("-r -nostdlib twice.o other.o -o part.o")
    else:
        project.run(["ld", "-r", "twice.o", "other.o", "-o", "part.o"])
    project.cc("main.o part.o -o prog")
    assert names(check_variants(project, "prog")) == ["main.c", "twice.c", "other.c"]


def test_partial_link_with_foreign_parts(project: Project) -> None:
    project.write(
        main_c=MAIN,
        twice_c="int two(void);\nint twice(int x) { return 2 * x + two(); }",
        two_c="int two(void) { return 0; }",
    )
    project.cc("-c main.c twice.c")
    project.plain("-c two.c")
    project.run(["ld", "-r", "twice.o", "two.o", "-o", "part.o"])
    project.cc("main.o part.o -o prog")
    assert names(check_variants(project, "prog")) == ["main.c", "twice.c"]


def test_foreign_object_stays(project: Project) -> None:
    project.write(
        main_c=MAIN.replace("twice(", "2 * same(").replace("int 2 * same(int)", "int same(int)"),
        same_c="int same(int x) { return x; }",
    )
    project.cc("-c main.c")
    project.plain("-c same.c")
    project.cc("main.o same.o -o prog")
    capture = check_variants(project, "prog")
    assert capture.uncaptured == [f"{project.folder}/same.o: not compiled by whence-cc"]


def test_source_without_ir_is_compiled_again_by_the_link(project: Project) -> None:
    guard = "#ifndef __OPTIMIZE_SIZE__\n#error no\n#endif\nint same(int x) { return x; }\n"
    project.write(
        main_c=MAIN.replace("twice(", "2 * same(").replace("int 2 * same(int)", "int same(int)"), same_c=guard
    )
    project.cc("-Os main.c same.c -o prog")
    assert names(check_variants(project, "prog")) == ["main.c"]


def test_static_functions_of_one_name(project: Project) -> None:
    twice = "static int f(int x) { return 2 * x; }\nint twice(int x) { return f(x); }\n"
    project.write(
        main_c=MAIN.replace("int main", "static int f(int x) { return x; }\nint main").replace(
            "argc + 20", "f(argc + 20)"
        )
    )
    project.write(twice_c=twice)
    project.cc("-c main.c twice.c")
    project.cc("main.o twice.o -o prog")
    check_variants(project, "prog")


def test_one_source_compiled_twice(project: Project) -> None:
    project.write(main_c=MAIN, twice_c="int NAME(int x) { return 2 * x; }\n")
    project.cc("-c main.c")
    project.cc("-c -DNAME=twice twice.c -o one.o")
    project.cc("-c -DNAME=thrice twice.c -o two.o")
    project.cc("main.o one.o two.o -o prog")
    assert names(check_variants(project, "prog")) == ["main.c", "twice.c", "twice.c#2"]


def test_static_program(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("-static -pthread main.c twice.c -o prog")
    check_variants(project, "prog")


def test_link_time_optimisation(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("-O2 -flto -c main.c twice.c")
    project.cc("-O2 -flto main.o twice.o -o prog")
    check_variants(project, "prog")


def test_copied_and_stripped_program(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("main.c twice.c -o prog")
    project.run(["strip", "--strip-all", "-o", "installed", "prog"])
    (project.folder / "prog").unlink()
    check_variants(project, "installed")


def test_libtools_script(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    (project.folder / ".libs").mkdir()
    project.cc("main.c twice.c -o .libs/prog")
    (project.folder / "prog").write_text(
        "#! /bin/sh\n# prog - temporary wrapper script for .libs/prog\n# Generated by libtool\n"
    )
    assert read_executable(project.folder / "prog").executable == project.folder / ".libs" / "prog"
    (project.folder / ".libs" / "prog").unlink()
    with pytest.raises(BuildError, match="libtool's script"):
        read_executable(project.folder / "prog")


def test_shared_libraries_of_the_build_are_modules(project: Project) -> None:
    project.write(twice_c=TWICE, main_c=MAIN)
    project.cc("-fPIC -shared twice.c -o libtwice.so -Wl,-soname,libtwice.so -Wl,-z,defs")
    assert names(read_executable(project.folder / "libtwice.so")) == ["twice.c"]
    project.cc("main.c -L. -ltwice -Wl,-rpath,. -o prog")
    capture = check_variants(project, "prog")
    assert names(capture) == ["main.c", "twice.c"]
    assert list(capture.libraries) == ["./libtwice.so"]


def test_what_a_shared_library_was_linked_with_is_linked(project: Project) -> None:
    """Another library, an archive taken as a whole, and an object that nobody captured."""
    project.write(
        main_c=MAIN,
        twice_c="int two(void), none(void), half(int);\nint twice(int x) { return two() * x + none() + half(0); }",
        two_c="int two(void) { int one = 1; return 2 * one; }",
        half_c="#include <math.h>\nint half(int x) { return (int)sqrt(x); }",
        none_c="int none(void) { return 0; }",
    )
    project.cc("-fPIC -c two.c half.c")
    project.plain("-fPIC -c none.c")
    project.run(["ar", "rcs", "libpart.a", "two.o"])
    project.cc("-fPIC -shared half.o -o libhalf.so -lm")
    parts = "-Wl,--whole-archive,libpart.a,--no-whole-archive -L. -lhalf -Wl,-rpath,."
    project.cc(f"-fPIC -shared twice.c none.o {parts} -o libtwice.so.1")
    project.cc("main.c libtwice.so.1 -Wl,-rpath,. -Wl,-rpath-link,. -o prog")
    capture = check_variants(project, "prog")
    assert names(capture) == ["main.c", "twice.c", "two.c", "half.c"]
    assert capture.uncaptured == [f"{project.folder}/none.o: not compiled by whence-cc"]


def test_a_shared_library_counts_as_it_is_now(project: Project) -> None:
    """The program need not be linked again after the library was."""
    project.write(twice_c=TWICE, main_c=MAIN)
    project.cc("-fPIC -shared twice.c -o libtwice.so")
    project.cc("main.c -L. -ltwice -Wl,-rpath,. -o prog")
    project.write(twice_c=TWICE.replace("2 * x", "2 * x + 1"))
    project.cc("-fPIC -shared twice.c -o libtwice.so")
    assert project.output("prog") == "43\n"
    capture = read_executable(project.folder / "prog")
    build_variant(capture, "identity", texts(capture), [], project.folder / "identity")
    assert project.output("identity") == "43\n"


def test_a_shared_library_with_names_of_the_program_stays_as_it_is(project: Project) -> None:
    """The program's own definition is called from the library, too."""
    project.write(
        main_c=MAIN.replace("int main", "int two(void) { return 2; }\nint main"),
        twice_c="int two(void) { return 5; }\nint twice(int x) { return two() * x; }",
    )
    project.cc("-fPIC -shared twice.c -o libtwice.so")
    project.cc("main.c -L. -ltwice -Wl,-rpath,. -Wl,-export-dynamic -o prog")
    capture = check_variants(project, "prog", changed="42\n")
    assert names(capture) == ["main.c"]
    assert capture.uncaptured == ["./libtwice.so: it defines two, as the program does, and is taken as it is"]


def test_nothing_captured(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.plain("main.c twice.c -o prog")
    with pytest.raises(BuildError, match="holds no captured IR") as caught:
        read_executable(project.folder / "prog")
    assert "CC=whence-cc" in caught.value.hint
    with pytest.raises(BuildError, match="cannot be read: No such file"):
        read_executable(project.folder / "gone")
    with pytest.raises(BuildError, match="holds no captured IR"):
        read_executable(project.folder / "main.c")


def test_linked_by_something_else(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("-c main.c twice.c")
    project.plain("main.o twice.o -o prog")
    with pytest.raises(BuildError, match="was not linked by whence-cc"):
        read_executable(project.folder / "prog")


def test_variant_that_llvm_refuses(project: Project, tmp_path: Path) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("main.c twice.c -o prog")
    capture = read_executable(project.folder / "prog")
    broken = texts(capture)
    broken[1] = broken[1].replace("ret i32", "ret i64")
    with pytest.raises(ProgramError, match=r"twice\.c: LLVM refuses"):
        build_variant(capture, "broken", broken, [], tmp_path / "out")
    with pytest.raises(ProgramError, match="LLVM cannot read"):
        canonical_text(b"no bitcode")
    with pytest.raises(ProgramError, match="LLVM refuses"):
        verify("define void @f() { }")


def test_variant_that_does_not_link(project: Project, tmp_path: Path) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("main.c twice.c -o prog")
    capture = read_executable(project.folder / "prog")
    missing = [t.replace("@twice", "@nowhere") if "define dso_local i32 @main" in t else t for t in texts(capture)]
    with pytest.raises(BuildError, match=r"cannot link the missing variant: .*nowhere"):
        build_variant(capture, "missing", missing, [], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_objects_are_compiled_once_and_progress_is_told(project: Project, tmp_path: Path) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("main.c twice.c -o prog")
    capture = read_executable(project.folder / "prog")
    told: list[tuple[int, int]] = []
    build_variant(capture, "one", texts(capture), [], tmp_path / "one", progress=lambda *n: told.append(n))
    objects = set((project.folder.parent / "home/store/objects").rglob("*.o"))
    build_variant(capture, "two", texts(capture), [], tmp_path / "two")
    assert told == [(1, 2), (2, 2)]
    assert len(objects) == 2
    assert set((project.folder.parent / "home/store/objects").rglob("*.o")) == objects


def test_a_header_change_compiles_the_runtime_again(project: Project, tmp_path: Path) -> None:
    toolchain = find_toolchain()
    (tmp_path / "r.h").write_text("#define N 1\n")
    (tmp_path / "r.c").write_text('#include "r.h"\nint n = N;\n')
    first = compile_c(toolchain, tmp_path / "r.c", ["-O2"])
    assert compile_c(toolchain, tmp_path / "r.c", ["-O2"]) == first
    (tmp_path / "r.h").write_text("#define N 2\n")
    assert compile_c(toolchain, tmp_path / "r.c", ["-O2"], tmp_path / "r.o") != first
    assert (tmp_path / "r.o").is_file()
    (tmp_path / "r.c").write_text("int n = ;\n")
    with pytest.raises(BuildError, match=r"r\.c:1:9: error: expected expression"):
        compile_c(toolchain, tmp_path / "r.c", ["-O2"])


def test_a_header_in_another_folder_counts_too(project: Project, tmp_path: Path) -> None:
    toolchain = find_toolchain()
    (tmp_path / "base").mkdir()
    (tmp_path / "record").mkdir()
    header, source = tmp_path / "base/n.h", tmp_path / "record/r.c"
    source.write_text('#include "base/n.h"\nint n = N;\n')
    header.write_text("#define N 1\n")
    first = compile_c(toolchain, source, ["-O2"], root=tmp_path)
    (tmp_path / "record/other.c").write_text("int other;\n")
    assert compile_c(toolchain, source, ["-O2"], root=tmp_path) == first
    header.write_text("#define N 2\n")
    assert compile_c(toolchain, source, ["-O2"], root=tmp_path) != first


def test_loose_sources(project: Project, tmp_path: Path) -> None:
    project.write(main_c=MAIN, twice_c=TWICE, bad_c="int main(void) { return x; }\n")
    sources = [project.folder / "main.c", project.folder / "twice.c"]
    program = build_sources(sources, ["-DX=1"], tmp_path / "out")
    assert program == tmp_path / "out" / "main"
    assert len(read_executable(program).modules) == 2
    with pytest.raises(BuildError, match=r"bad\.c:1:25: error: use of undeclared identifier 'x'"):
        build_sources([project.folder / "bad.c"], [], tmp_path / "out")
    with pytest.raises(BuildError, match=r"gone\.c: no such file"):
        build_sources([project.folder / "gone.c"], [], tmp_path / "out")


def test_without_a_system_c_library(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_CLANG", "zig")
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("-c main.c")
    project.cc("-c twice.c")
    project.cc("main.o twice.o -o prog")
    assert check_variants(project, "prog").toolchain.kind == "zig"


@pytest.mark.skipif(not os.environ.get("WHENCE_TEST_CLANG"), reason="WHENCE_TEST_CLANG names no other clang")
def test_another_clang(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHENCE_CLANG", os.environ["WHENCE_TEST_CLANG"])
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("-O2 -c main.c twice.c")
    project.cc("main.o twice.o -o prog")
    assert not check_variants(project, "prog").toolchain.version.startswith("22.")


def test_cmake(project: Project, tmp_path: Path) -> None:
    cmake = subprocess.run(["sh", "-c", "command -v cmake"], capture_output=True, text=True, check=False).stdout.strip()
    if not cmake:
        pytest.skip("cmake is not installed")
    compiler = tmp_path / "whence-cc"
    compiler.write_text(f'#!/bin/sh\nexec {" ".join(WRAPPER)} "$@"\n')
    compiler.chmod(0o755)
    (project.folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_library(l STATIC twice.c)\n"
        "add_executable(prog main.c)\ntarget_link_libraries(prog l)\n"
    )
    project.write(main_c=MAIN, twice_c=TWICE)
    project.run([cmake, "-S", ".", "-B", "build", f"-DCMAKE_C_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release"])
    project.run([cmake, "--build", "build"])
    assert len(list((project.folder.parent / "home/store/links").rglob("*.json"))) == 1  # no probe was captured
    check_variants(project, "build/prog")
