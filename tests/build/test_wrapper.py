"""whence-cc against the compiler behind it: nothing that a build can see may differ."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from build_project import MAIN, TWICE, WRAPPER, Project

from whence.build.capture import read_executable
from whence.build.flags import CommandLine
from whence.build.records import read_records
from whence.build.wrapper import worth_capturing


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def records(path: Path) -> list[tuple[str, str]]:
    with path.open("rb") as file:
        return [(r.kind, Path(r.path).name) for r in read_records(file)]


@pytest.mark.parametrize(
    "arguments",
    [
        "-E a.c",
        "-E -dM -O2 a.c",
        "-M a.c",
        "-MM a.c",
        "--version",
        "-dumpmachine",
        "-print-search-dirs",
        "-S -o - a.c",
    ],
)
def test_questions_are_answered_by_the_compiler_itself(project: Project, arguments: str) -> None:
    project.write(a_c=MAIN)
    ours, theirs = project.cc(arguments), project.plain(arguments)
    assert (ours.stdout, ours.stderr) == (theirs.stdout, theirs.stderr)
    assert not (project.folder.parent / "home" / "store").exists()


def test_preprocessing_standard_input(project: Project) -> None:
    assert project.cc("-E -", stdin="X __LINE__\n").stdout == project.plain("-E -", stdin="X __LINE__\n").stdout


def test_errors_and_warnings_are_shown_once_and_unchanged(project: Project) -> None:
    project.write(bad_c="int f(void) { return x; }\n", warn_c="int f(void) { int unused; return 1 == 1u; }\n")
    ours, theirs = project.cc("-c bad.c", status=1), project.plain("-c bad.c", status=1)
    assert (ours.stdout, ours.stderr) == (theirs.stdout, theirs.stderr)
    assert "undeclared" in ours.stderr
    ours, theirs = project.cc("-Wall -c warn.c"), project.plain("-Wall -c warn.c")
    assert ours.stderr == theirs.stderr
    assert ours.stderr.count("unused variable") == 1
    assert project.cc("-Wall -Werror -c warn.c", status=1).stderr.count("unused variable") == 1


OLD_C = """
static take(char *text) { return text[0]; }
int main() { int *p = 5; take(p); return twice_of(p == 0); }
int twice_of(int x) { if (x) return; return 2 * x; }
"""


def test_old_c_is_compiled_and_captured_with_warnings(project: Project) -> None:
    project.write(old_c=OLD_C)
    told = project.cc("-c old.c")
    assert told.stderr.count("warning:") >= 4
    assert records(project.folder / "old.o") == [("module", "old.c")]


def test_what_others_warn_of_is_an_error_where_all_warnings_are(project: Project) -> None:
    # The result is known, so that an optimising compiler needs no such function.
    text = 'int main(void)\n{\n    char a[2];\n    return strlcpy(a, "a", sizeof a) != 1;\n}\n'
    project.write(asks_c=text)
    assert "strlcpy" in project.cc("-O2 -Werror -o asks asks.c", status=1).stderr
    assert "strlcpy" in project.cc("-O2 -Werror -c asks.c", status=1).stderr
    for flags in ("", "-w -Werror", "-Werror -Wno-error", "-Werror -Wno-error=implicit-function-declaration"):
        project.cc(f"-O2 {flags} -c asks.c")
        assert records(project.folder / "asks.o") == [("module", "asks.c")]


def test_warnings_that_only_clang_has_are_no_errors(project: Project) -> None:
    project.write(old_c="int zero();\nint main(void) { return zero(); }\nint zero() { return 0; }\n")
    flags = "-std=c99 -pedantic -Werror old.c"
    assert "no errors, since" in project.cc(f"-c {flags}").stderr
    assert records(project.folder / "old.o") == [("module", "old.c")]
    assert "no errors, since" in project.cc(f"{flags} -o old").stderr
    project.output("old")
    assert "no errors, since" not in project.cc(f"-Wstrict-prototypes -c {flags}", status=1).stderr  # gcc has this too


def test_a_main_that_returns_nothing_is_taken_in_strict_c(project: Project) -> None:
    project.write(
        old_c="#include <stdlib.h>\nvoid main(void) {\n#ifdef unix\n#error\n#endif\nint asm = 3; exit(asm); }\n"
    )
    flags = "-ansi -O1 old.c"
    assert "strict C as" in project.cc(f"-c {flags}").stderr
    assert records(project.folder / "old.o") == [("module", "old.c")]
    assert "strict C as" in project.cc(f"{flags} -o old").stderr
    project.run([str(project.folder / "old")], status=3)


def test_probes_are_refused_as_they_ask_for(project: Project) -> None:
    project.write(conftest_c="int main(void) { return not_declared(); }\n")
    assert "not_declared" in project.cc("-c conftest.c").stderr
    (project.folder / "conftest.o").unlink()
    assert "not_declared" in project.cc("-Werror=implicit-function-declaration -c conftest.c", status=1).stderr
    assert project.files() == {"conftest.c"}


def test_what_needs_the_runtime_of_openmp_gets_one_line(project: Project) -> None:
    project.write(omp_c="int main(void) {\n#pragma omp parallel\n    ;\n    return 0;\n}\n")
    assert "OpenMP" not in project.cc("-c -fopenmp omp.c").stderr
    (told,) = [text for text in project.cc("-fopenmp omp.c -o omp", status=1).stderr.splitlines() if "OpenMP" in text]
    assert "leave -fopenmp out" in told


NESTED = "int twice(int x) { int add(int y) { return x + y; } return add(x); }\n"  # gcc's own C


def test_what_clang_refuses_the_own_compiler_compiles(project: Project) -> None:
    project.write(nested_c=NESTED, main_c=MAIN)
    told = project.cc("-c nested.c")
    assert "nested.c: compiled by" in told.stderr
    project.cc("main.c nested.o -o main")
    assert project.output("main") == "42\n"
    capture = read_executable(project.folder / "main")
    assert [Path(module.source).name for module in capture.modules] == ["main.c"]
    assert [text.partition("nested.c: ")[2][:25] for text in capture.uncaptured] == ["clang does not compile it"]


def test_two_compilers_that_call_each_other_end(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's `cc` may be a script that starts whence-cc."""
    project.write(bad_c=NESTED)
    script = project.folder / "bin" / "cc"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec {shlex.join(WRAPPER)} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    assert "error:" in project.cc("-c bad.c", status=1).stderr
    assert "bad.o" not in project.files()


def test_link_error_is_the_linkers(project: Project) -> None:
    project.write(main_c=MAIN)
    assert "twice" in project.cc("main.c -o prog", status=1).stderr
    assert project.files() == {"main.c"}


def test_object_is_the_plain_one_with_a_section_more(project: Project) -> None:
    project.write(twice_c=TWICE)
    project.plain("-O2 -c twice.c -o plain.o")
    project.cc("-O2 -c twice.c")
    code = [
        subprocess.run(["objdump", "-dr", name], cwd=project.folder, capture_output=True, text=True, check=True)
        for name in ("plain.o", "twice.o")
    ]
    assert code[0].stdout.replace("plain.o", "twice.o") == code[1].stdout
    assert records(project.folder / "twice.o") == [("module", "twice.c")]


def test_several_sources_in_one_compile(project: Project) -> None:
    project.write(a_c="int a;", b_c="int b;", c_s=".globl c\nc: ret\n")
    project.cc("-c a.c b.c c.s")
    found = [records(project.folder / f"{n}.o") for n in "abc"]
    assert found == [[("module", "a.c")], [("module", "b.c")], [("missing", "c.s")]]


def test_compile_and_link_in_one_call(project: Project) -> None:
    project.write(main_c=MAIN, twice_c=TWICE)
    project.cc("main.c twice.c -o prog -lm")
    assert project.output("prog") == "42\n"
    assert records(project.folder / "prog") == [("module", "main.c"), ("module", "twice.c"), ("link", "prog")]
    assert project.files() == {"main.c", "twice.c", "prog"}


def test_response_file_with_quotes(project: Project) -> None:
    project.write(
        main_c="#include <stdio.h>\nint main(void) { puts(TEXT); return 0; }",
        args_txt='-DTEXT="\\"a b\\""\nmain.c',
    )
    project.cc("@args.txt -o prog")
    assert project.output("prog") == "a b\n"
    assert read_executable(project.folder / "prog").uncaptured == []


def test_language_option_and_standard_input(project: Project) -> None:
    project.write(twice_txt=TWICE, main_c=MAIN)
    project.cc("-x c -c twice.txt -o twice.o")
    project.cc("-x c -c - -o main.o", stdin=MAIN)
    project.cc("-o prog main.o twice.o")
    assert project.output("prog") == "42\n"
    assert records(project.folder / "prog") == [
        ("link", "prog"),
        ("module", "<stdin>"),
        ("module", "twice.txt"),
    ]
    project.cc("-o again -x c main.c twice.txt")
    assert project.output("again") == "42\n"
    project.cc("-o once -x c - twice.txt", stdin=MAIN)
    assert project.output("once") == "42\n"


def test_assembly_with_preprocessor(project: Project) -> None:
    project.write(main_c=MAIN, twice_S="#define TWO 2\n.globl twice\ntwice: imul $TWO, %edi, %eax\n ret\n")
    project.cc("main.c twice.S -o prog")
    assert project.output("prog") == "42\n"
    assert records(project.folder / "prog") == [
        ("module", "main.c"),
        ("missing", "twice.S"),
        ("link", "prog"),
    ]


@pytest.mark.parametrize("flags", ["-MD -MF dep.d -MT target", "-MMD -MP", "-Wp,-MD,dep.d"])
def test_dependency_files_are_the_compilers(project: Project, flags: str) -> None:
    project.write(a_h="int a;\n", a_c='#include "a.h"\n')
    project.plain(f"{flags} -c a.c -o a.o")
    theirs = {name: (project.folder / name).read_text() for name in project.files() if name.endswith(".d")}
    for name in theirs:
        (project.folder / name).unlink()
    project.cc(f"{flags} -c a.c -o a.o")
    assert {n: (project.folder / n).read_text() for n in project.files() if n.endswith(".d")} == theirs
    assert theirs
    assert project.files() == {"a.h", "a.c", "a.o", *theirs}


def test_assertions_stay_and_dates_compile_in_optimised_code(project: Project) -> None:
    source = "#include <assert.h>\nint main(int n, char **v) { assert(__DATE__[0] && n > 1); return 0; }\n"
    project.write(a_c=source)
    project.cc("-O2 a.c -o prog")
    assert "Assertion" in project.run(["./prog"], status=-signal.SIGABRT).stderr
    project.cc("-O2 -DNDEBUG a.c -o prog")
    project.run(["./prog"])


def test_undefined_behaviour_is_not_trapped(project: Project) -> None:
    project.write(
        a_c="#include <limits.h>\nint main(int n, char **v) { int x = INT_MAX; x += n; return x != INT_MIN; }\n"
    )
    project.cc("-O0 a.c -o prog")
    assert project.run(["./prog"]).returncode == 0


def test_failed_capture_does_not_fail_the_build(project: Project) -> None:
    source = "#ifndef __OPTIMIZE_SIZE__\n#error needs optimisation\n#endif\nint twice(int x) { return 2 * x; }\n"
    project.write(main_c=MAIN, twice_c=source)
    assert project.cc("-Os -c twice.c").stderr == ""
    project.cc("main.c twice.o -o prog")
    assert project.output("prog") == "42\n"
    (reason,) = read_executable(project.folder / "prog").uncaptured
    assert "twice.c" in reason and "needs optimisation" in reason


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_unwritable_store_does_not_fail_the_build(project: Project) -> None:
    (project.folder.parent / "home").mkdir(mode=0o500)
    project.write(main_c=MAIN, twice_c=TWICE)
    assert project.cc("main.c twice.c -o prog").stderr == ""


def test_store_that_is_a_file_does_not_fail_the_build(project: Project) -> None:
    (project.folder.parent / "home").write_text("")
    project.write(main_c=MAIN, twice_c=TWICE)
    assert project.cc("-c main.c").stderr == ""
    assert project.cc("main.o twice.c -o prog").stderr == ""
    assert project.output("prog") == "42\n"
    assert records(project.folder / "main.o") == [("missing", "main.c")]


@pytest.mark.parametrize(
    "arguments",
    [
        "conftest.c -o conftest",
        "-c conftest.c",
        "-c a.c -o /dev/null",
        "-c a.c -o -",
        "CMakeFiles/CMakeScratch/x/a.c",
    ],
)
def test_probes_are_not_worth_capturing(arguments: str) -> None:
    assert not worth_capturing(CommandLine(arguments.split()))
    assert worth_capturing(CommandLine(["-c", "a.c"]))


def test_parallel_make(project: Project) -> None:
    names = [f"f{n}" for n in range(12)]
    for name in names:
        (project.folder / f"{name}.c").write_text(f"int {name}(void) {{ return 1; }}\n")
    calls = " + ".join(f"{n}()" for n in names)
    declarations = "".join(f"int {n}(void);\n" for n in names)
    project.write(
        main_c=f'#include <stdio.h>\n{declarations}int main(void) {{ printf("%d\\n", {calls}); return 0; }}\n'
    )
    objects = " ".join(f"{n}.o" for n in ["main", *names])
    (project.folder / "Makefile").write_text(f"prog: {objects}\n\t$(CC) -o $@ $^\n")
    project.run(["make", "-j8", f"CC={' '.join(WRAPPER)}"])
    assert project.output("prog") == "12\n"
    assert [m.name for m in read_executable(project.folder / "prog").modules] == [
        "main.c",
        *(f"{n}.c" for n in names),
    ]
    assert list((project.folder.parent / "home/store/tmp").iterdir()) == []


def test_interrupt_leaves_nothing_behind(project: Project, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    slow.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pids\nexec sleep 60\n")
    slow.chmod(0o755)
    project.write(a_c="int a;\n")
    environment = os.environ | {"WHENCE_CLANG": str(slow)}
    with subprocess.Popen(
        [*WRAPPER, "-c", "a.c"], cwd=project.folder, env=environment, stderr=subprocess.PIPE
    ) as process:
        pids = wait_for_lines(tmp_path / "pids", 2)
        process.terminate()
        assert process.wait() == -signal.SIGTERM
        assert process.stderr is not None and process.stderr.read() == b""
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    assert project.files() == {"a.c"}


def wait_for_lines(path: Path, count: int) -> list[str]:
    for _ in range(400):
        lines = path.read_text().split() if path.exists() else []
        if len(lines) == count:
            return lines
        time.sleep(0.05)
    raise AssertionError(f"{path} has no {count} lines")


def test_start_up_imports_nothing_heavy(project: Project) -> None:
    done = project.run([sys.executable, "-X", "importtime", "-c", "import whence.build.wrapper"])
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not loaded & {
        "click",
        "dataclasses",
        "elftools",
        "llvmlite",
        "numpy",
        "pathlib",
        "subprocess",
        "typing",
    }
