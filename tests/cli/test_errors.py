"""Bad input: a clear message, exit status 2, never a traceback, and nothing left behind."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from cli_programs import kinds
from cli_tool import subject_folder, whence, write

from corpus.corpus import COMPILER
from whence.cli.options import quoted

BROKEN = '#include <stdio.h>\nint main(void)\n{\n    printf("x")\n    return 0;\n}\n'
COUNTER = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    if (argc > 2) {
        FILE *file = fopen(argv[2], "a+");
        fputc('x', file);
        long at = ftell(file);
        fclose(file);
        return at % 2;
    }
    printf("%d\\n", argc);
    return argc > 1;
}
"""
FAILS = ("--fails", "words a", "--expect", "b\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--expect", "x", "--fails", "a"], "each --expect belongs to the --fails before it"),
        (["--fails", "a", "--expect", "x", "--expect", "y"], "each --expect belongs to the --fails before it"),
        (["--fails", "a", "--passes", "b", "--expect", "y", "--expect", "z"], "each --expect belongs"),
        (["--fails", "'a"], "No closing quotation"),
        (["--fails", "a < none.txt"], "no such input file: none.txt"),
        (["--fails", "a > out"], "only '< file' can be redirected"),
        (["--fails", "a", "--cflags", "'-DX"], "--cflags: No closing quotation"),
        (["--fails", "a", "--timeout", "-1"], "-1.0 is not in the range"),
        (["--fails", "a", "--trace-limit", "12x"], "'12x' is no size"),
        (["--fails", "a", "--window", "0"], "'0' is no size"),
        (["--fails", "a", "-n", "0"], "0 is not in the range"),
        (["--fails"], "requires an argument"),
        (["-C", "..", "--fails", "a"], "-C names the folder of a whence.toml"),
        (["--bogus"], "No such option"),
        ([], "no cases"),
        (["--passes", "words"], "no case fails: ran 1 case, and it passed"),
        (["--fails", "words", "--passes", "words a"], "without it only a crash or a non-zero status counts"),
        ([*FAILS, "--case", "x"], "no failing case is named 'x'"),
        ([*FAILS, "--html", "/proc/none/x.html"], "cannot write /proc/none/x.html"),
    ],
)
def test_wrong_options(words, message):
    done = whence(kinds(), "locate", "kinds.c", *words)
    assert (done.status, message in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (["none.c"], "none.c: no such file"),
        (["."], ". is a folder"),
        (["/bin/sh"], "/bin/sh is no C file"),
        (["stack.cpp"], "stack.cpp is C++, which Whence does not analyse yet"),
        ([], "there is no whence.toml here"),
        (["-C", "/none"], "there is no whence.toml in /none"),
        (["--cflags", "-O2"], "--cflags are for C files given by name"),
    ],
)
def test_wrong_sources(sources, message):
    done = whence(kinds(), "locate", *sources, "--fails", "a")
    assert (done.status, message in done.err) == (2, True), done.err


def test_compiler_speaks_first(tmp_path):
    write(tmp_path / "broken.c", BROKEN)
    done = whence(tmp_path, "locate", "broken.c", "--fails", "")
    first, last = done.err.splitlines()[0], done.err.splitlines()[-1]
    assert done.status == 2
    assert first.startswith(f"{tmp_path}/broken.c:4:16: error: expected ';'")
    assert last.startswith("whence: the program does not build")


CONFIGURED = {
    '[program]\nsources = ["p.c"]\nflgas = []\n[cases]\nfolder = "c"\n': "whence.toml:3: unknown key flgas",
    '[program]\nsources = 3\n[cases]\nfolder = "c"\n': "whence.toml:2:",
    '[program]\nsources = ["p.c"]\n[cases]\nfolder = "c"\n[limits]\ntime = "long"\n': "whence.toml:6:",
    '[program]\nsources = ["p.c"]\n[cases]\nfolder = "none"\n': "whence.toml:4: folder",
    '[program\nsources = ["p.c"]\n': "whence.toml",
    '[program]\nsources = ["x*.c"]\n[cases]\nfolder = "c"\n': "no source file matches x*.c",
    '[program]\npath = "none"\n[cases]\nfolder = "c"\n': "build it with CC=whence-cc",
    '[program]\npath = "/bin/true"\n[cases]\nfolder = "c"\n': "build it anew with whence-cc: whence build -- make",
    '[program]\npath = "p"\nbuild = "echo o; exit 3"\n[cases]\nfolder = "c"\n': "`echo o; exit 3` ended with status 3",
    '[program]\npath = "p"\nbuild = "echo p.c:9: error: no >&2; exit 3"\n[cases]\nfolder = "c"\n': "p.c:9: error: no",
    '[program]\nsources = ["p.c"]\n[cases]\nfolder = "empty"\n': "no cases were found in",
    '[program]\nsources = ["p.c"]\n[cases]\nfile = "c.txt"\nreference = "r"\n': "no reference program",
    '[program]\nsources = ["p.c"]\n[cases]\nfile = "c.txt"\noutputs = "empty"\n': "holds 0 outputs for 1 cases",
}


@pytest.mark.parametrize("text", CONFIGURED, ids=range(len(CONFIGURED)))
def test_wrong_configuration(text):
    folder = subject_folder("configured", p_c="int main(void) { return 0; }\n", c_txt="1\n")
    write(folder / "c" / "a.args", "1")
    (folder / "empty").mkdir(exist_ok=True)
    write(folder / "whence.toml", text)
    done = whence(folder, "locate")
    assert (done.status, CONFIGURED[text] in done.err) == (2, True), done.err


def test_flaky_case_is_named(tmp_path):
    folder = subject_folder("counter", counter_c=COUNTER)
    words = ["--fails", "1", "--passes", "", "--fails", f"1 {tmp_path}/count"]
    done = whence(folder, "spectrum", "counter.c", *words, "--json")
    assert done.json["cases"]["names_failed"] == ["fails 1"]
    assert any(line.startswith("left out: fails 2: flaky: ") for line in done.json["summary"])


def test_nothing_but_flaky_cases(tmp_path):
    folder = subject_folder("counter", counter_c=COUNTER)
    done = whence(folder, "locate", "counter.c", "--fails", f"1 {tmp_path}/count")
    assert done.status == 2 and "no case can be used: fails 1: flaky" in done.err


NOTICING = """\
extern int whence_recording(void) __attribute__((weak)); /* of the runtime that variants are linked with */
int main(int argc, char **argv)
{
    return argc > 1 && !whence_recording;
}
"""


def test_verdict_that_the_variant_changes_is_named():
    folder = subject_folder("inside", inside_c=NOTICING)
    done = whence(folder, "locate", "inside.c", "--fails", "1", "--passes", "")
    assert done.status == 0 and "most suspicious statements by locate" in done.out
    assert "left out: fails 1: depends on uninitialised memory or layout: wrong status in the program, but" in done.out
    assert "the optimiser" not in done.out  # it was built without one
    assert "no failing case fails in the instrumented program as it does by itself" in " ".join(done.out.split())


# An endless loop without effects, which a compiler that optimises takes out.
REMOVED = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int high = atoi(argv[1]), low = 7;
    while (high > 255)
        low >>= 1;
    printf("%d %d\\n", high, low);
    return 0;
}
"""


def test_a_verdict_that_the_optimiser_changes_is_not_said_to_come_of_memory_alone():
    folder = subject_folder("removed", removed_c=REMOVED)
    write(folder / "cases" / "a.args", "300")
    write(folder / "cases" / "a.expected", "44 7\n")
    config = '[program]\nsources = ["removed.c"]\nflags = ["-O2"]\n[cases]\nfolder = "cases"\n[limits]\ntime = 0.3\n'
    write(folder / "whence.toml", config)
    told = whence(folder, "locate", "--no-alter").out
    assert "wrong output in the program, but timeout in its" in told and "what the optimiser makes of undefined" in told


UNINITIALISED = """\
#include <stdlib.h>
static int check(const char *text)
{
    int kept[4096];
    kept[atoi(text)] = 0;
    return kept[atoi(text) + 1];
}
int main(int argc, char **argv)
{
    return check(argv[1]) != -1431655766; /* what a pattern of 0xAA makes of it */
}
"""


def test_verdict_that_the_content_of_fresh_memory_changes_is_named():
    folder = subject_folder("fresh", fresh_c=UNINITIALISED)
    write(folder / "cases" / "a.args", "5")
    write(
        folder / "whence.toml", '[program]\nsources = ["fresh.c"]\n[cases]\nfolder = "cases"\n[limits]\npattern = 170\n'
    )
    done = whence(folder, "locate")
    assert "a: depends on uninitialised memory: wrong status in the program, but pass in its" in done.out, done.out
    assert "(wrong status where fresh memory holds 0 and pass where fresh memory holds 170" in done.out, done.out
    shown = r"its recorded run shows the use of `check\(argv\[1\]\)` at fresh.c:\d+, made from `.+` at fresh.c:\d+, "
    assert re.search(shown + "which was never given a value", done.out), done.out


def test_changed_source_is_told():
    folder = subject_folder("changed", p_c="#include <stdio.h>\nint main(int c, char **v)\n{\n    return c > 2;\n}\n")
    write(folder / "cases" / "a.args", "1")
    write(folder / "cases" / "b.args", "1 2")
    write(folder / "whence.toml", '[program]\npath = "p"\n[cases]\nfolder = "cases"\n')
    compiler = Path(os.sys.executable).parent / "whence-cc"
    subprocess.run([compiler, "p.c", "-o", "p"], cwd=folder, check=True)
    fresh = whence(folder, "locate", "--json")
    assert fresh.json["warnings"] == [] and fresh.json["ranking"]
    write(folder / "p.c", "/* new */\n" + (folder / "p.c").read_text())
    done = whence(folder, "locate", "--json")
    (warning,) = done.json["warnings"]
    assert warning.startswith("p.c was changed since the program was built") and done.json["ranking"] == []


def test_case_that_writes_into_its_folder_harms_nothing():
    folder = subject_folder("counter", counter_c=COUNTER)
    before = sorted(path.name for path in folder.iterdir())
    done = whence(folder, "spectrum", "counter.c", "--fails", "1 count", "--passes", "", "--json")
    assert done.json["cases"] == {"passed": 1, "failed": 1, "names_failed": ["fails 1"]}
    assert sorted(path.name for path in folder.iterdir()) == before


def test_internal_error_is_called_a_bug(monkeypatch):
    monkeypatch.setattr("whence.cli.record.investigate", lambda *_, **__: 1 / 0)
    done = whence(kinds(), "record", "kinds.c", is_bug=True)
    assert done.status == 3
    path = re.search(r"this is a bug of whence; please report it with (.*)", done.err)[1]
    assert "ZeroDivisionError" in Path(path).read_text()


SEARCHES = {
    "rules": "diagnosis.rules.rules",
    "values": "techniques.value_replacement.technique.search",
    "switch": "techniques.predicate_switching.technique.switch",
    "formula": "diagnosis.formula.prepare",
    "invariants": "techniques.likely_invariants.technique.collect",
    "causes": "techniques.cause_tree.technique.causes",
    "faults": "diagnosis.multiple_faults.technique.statements_with_pairs",
}


@pytest.mark.parametrize(
    ("command", "error", "why"),
    [
        *(
            (name, ZeroDivisionError(), r"internal error \(ZeroDivisionError\), see .*; please report it")
            for name in SEARCHES
        ),
        ("rules", MemoryError(), "out of memory; record less: .*"),
        ("rules", KeyboardInterrupt(), "interrupted"),
    ],
)
def test_a_search_that_fails_leaves_the_ranking_of_the_spectrum(monkeypatch, command, error, why):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(f"whence.{SEARCHES[command]}", fail)
    words = ("--fails", "1 2 3", "--expect", "x", "--passes", "1")
    done = whence(kinds(), command, "kinds.c", *words, "--json", is_bug=isinstance(error, ZeroDivisionError))
    assert done.status == 0 and done.json["technique"] == "spectrum/op2" and done.json["ranking"]
    told, reason = done.json["warnings"]
    assert told == "the ranking is that of the spectrum alone: nothing else was found"
    assert re.fullmatch(f"stopped early: {why}", reason)


def test_full_disk_is_one_line(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "/tmp/x")

    monkeypatch.setattr("whence.cli.record.investigate", full)
    done = whence(kinds(), "record", "kinds.c")
    assert done.status == 2
    assert done.err.splitlines()[0] == "whence: No space left on device: /tmp/x"


@pytest.mark.parametrize("word", ["a b", "it's", "a\nb\t'c'", "é", "", "\\n", "a\\\nb"])
def test_quoted_words_are_read_back_by_a_shell(word):
    shown = subprocess.run(["bash", "-c", f"printf %s {quoted(word)}"], capture_output=True, check=True)
    assert shown.stdout.decode() == word


def test_a_home_that_cannot_be_used(tmp_path, monkeypatch):
    monkeypatch.setenv("WHENCE_HOME", str(write(tmp_path / "file", "") / "home"))
    source = write(tmp_path / "prog.c", COUNTER)
    done = whence(tmp_path, "locate", source.name, "--fails", "a")
    assert done.status == 2 and "Not a directory" in done.err
    assert "help: name a folder that can be written in WHENCE_HOME" in done.err


@pytest.mark.parametrize(
    ("rule", "help_"),
    [
        ("$(CC) -o tally p.c", "set `path` in whence.toml to one of the programs that were made: tally"),
        (f"{' '.join(COMPILER)} -o tally p.c", "`build` in whence.toml made no program with whence-cc"),
    ],
)
def test_a_build_that_makes_another_program_is_told_by_what_it_made(rule: str, help_: str) -> None:
    folder = subject_folder("other-name", p_c="int main(int c, char **v)\n{\n    return c > 2;\n}\n")
    write(folder / "Makefile", f"all:\n\t{rule}\n")
    write(folder / "cases" / "a.args", "1")
    write(folder / "cases" / "a.status", "0")
    config = '[program]\npath = "sum"\nbuild = "make CC=whence-cc"\n[cases]\nfolder = "cases"\n'
    write(folder / "whence.toml", config)
    done = whence(folder, "locate")
    assert done.status == 2 and "no program" in done.err and help_ in done.err, done.err
