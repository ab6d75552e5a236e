from __future__ import annotations

import pytest

from whence.errors import UsageError
from whence.probe.allocators import Allocator
from whence.run.config import line_of, read_config

MINIMAL = '[program]\npath = "prog"\n[cases]\ncommand = "./check"\n'
FULL = """
[program]
path = "build/prog"      # made by the next line
build = "make CC=whence-cc"
name = "prog"

[toolchain]
compiler = "clang-18"

[limits]
time = 2.5
memory = "512 MiB"
output = 1000
processes = 8
trace = "1G"

[cases]
file = "cases.txt"
reference = "./good"
files = ["data/*"]
environment = {LANG = "C", "X Y" = "z"}

[compare]
white_space = false
mask = ["[0-9]+ ms"]
tolerance = 1e-6
stderr = true
memory = true

[memory]
allocators = ["take(size)", "give(pool, pointer)"]
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "cases.txt").write_text("a\n")

    def write(text):
        path = tmp_path / "whence.toml"
        path.write_text(text)
        return path

    return write


def test_all_keys(write, tmp_path):
    config = read_config(write(FULL))
    assert config.folder == tmp_path
    assert config.program.path == tmp_path / "build/prog"
    assert (config.program.build, config.program.name) == ("make CC=whence-cc", "prog")
    assert config.toolchain == "clang-18"
    limits = config.limits
    assert (limits.time, limits.memory, limits.output) == (2.5, 512 << 20, 1000)
    assert (limits.processes, limits.trace) == (8, 1 << 30)
    assert config.cases.file == tmp_path / "cases.txt"
    assert config.cases.reference == tmp_path / "good"
    assert (config.cases.files, config.cases.environment) == (("data/*",), {"LANG": "C", "X Y": "z"})
    compare = config.compare
    assert (compare.white_space, compare.mask, compare.tolerance) == (False, ("[0-9]+ ms",), 1e-6)
    assert compare.stderr and compare.memory and not compare.status_only
    assert config.allocators == (Allocator("take", size=0), Allocator("give", pointer=1))


def test_folder_may_be_given_and_defaults_hold(write, tmp_path):
    write(MINIMAL)
    config = read_config(tmp_path)
    assert (config.limits.time, config.compare.exact, config.toolchain) == (10.0, True, None)
    assert (config.cases.verdict, config.cases.skip, config.cases.copy) == ("status", (77,), "each")


def test_sources_instead_of_a_path(write):
    config = read_config(write('program = {sources = "a.c", flags = ["-lm"]}\n[cases]\ncommand = "x"\n'))
    assert (config.program.sources, config.program.flags) == (("a.c",), ("-lm",))


CASES = '[cases]\ncommand = "x"\n'
PROGRAM = '[program]\npath = "p"\n'
WRONG = [
    ("[program]\npaht = 'x'\n" + CASES, 2, "unknown key paht in [program]; did you mean path?"),
    ("[program]\nzzz = 'x'\n" + CASES, 2, "unknown key zzz in [program]; known are path, build,"),
    ("path = 'x'\n" + CASES, 1, "unknown section path; it belongs below [program]"),
    ("[program]\npath = 'x'\nfolder = 'c'\n", 3, "unknown key folder in [program]; it belongs below [cases]"),
    (PROGRAM + "[case]\ncommand = 'x'\n", 3, "unknown section case; did you mean cases?"),
    (PROGRAM + CASES + "[limits]\n\n# ten\ntime = 'ten'\n", 8, "time: a number that is not negative was exp"),
    (PROGRAM + CASES + "[limits]\ntime = -1\n", 6, "negative was expected, not -1"),
    (PROGRAM + CASES + "[limits]\ntime = true\n", 6, "was expected, not true"),
    (PROGRAM + CASES + "[limits]\nmemory = '12 XB'\n", 6, 'a size, such as "512 MiB"'),
    (PROGRAM + CASES + "[limits]\npattern = 255\n", 6, '"zero" or a byte from 0 to 254'),
    (PROGRAM + CASES + "[limits]\nprocesses = 1.5\n", 6, "a whole number"),
    (PROGRAM + CASES + "limits.time = []\n", 5, "unknown key limits in [cases]"),
    ("limits.time = []\n" + PROGRAM + CASES, 1, "time: a number"),
    (PROGRAM + CASES + "[compare]\nmask = ['a(']\n", 6, "a regular expression (missing ), unterminated"),
    (PROGRAM + CASES + "[compare]\nstderr = 'yes'\n", 6, 'stderr: true or false was expected, not "yes"'),
    (PROGRAM + CASES + "[memory]\nallocators = ['take(what)']\n", 6, "an argument of take called size or pointer"),
    (PROGRAM + CASES + "verdict = 'maybe'\n", 5, 'one of "status", "tap", "automake", "junit" was expected'),
    (PROGRAM + CASES + "verdict = 'junit'\n", 5, "belong together"),
    (PROGRAM + CASES + "report = 'x.xml'\n", 5, "belong together"),
    (PROGRAM + CASES + "failing_output = '('\n", 5, "a regular expression"),
    (PROGRAM + CASES + "skip = [300]\n", 5, "a list of exit statuses from 0 to 255"),
    (PROGRAM + CASES + "environment = {A = 1}\n", 5, "a table of texts"),
    (PROGRAM + CASES + "environment = {A = 1}\n" + "names = [1]\n", 5, "a table of texts"),
    (PROGRAM + "[cases]\n", 3, "[cases] needs one of folder, file, command and tests"),
    (PROGRAM + CASES + "file = 'cases.txt'\n", 3, "[cases] needs one of folder, file, command and tests"),
    (PROGRAM + CASES + "reference = 'x'\n", 5, "reference belongs to file, but the cases come from command"),
    (PROGRAM + "[cases]\nfile = 'cases.txt'\n", 4, "file needs either reference or outputs"),
    (PROGRAM + "[cases]\nfolder = 'nowhere'\n", 4, "nowhere does not exist"),
    (PROGRAM + CASES + "names = ['a']\nscripts = 't/*'\n", 6, "only one of names and scripts can be used"),
    ("[program]\n" + CASES, 1, "[program] needs either path or sources"),
    ("[program]\nsources = 'a.c'\nbuild = 'make'\n" + CASES, 3, "build belongs to path, which is not set"),
    (CASES, 1, "[program] needs either path or sources"),
    ("program = 3\n" + CASES, 1, "a section [program] was expected, not a value"),
    (PROGRAM + "[cases\n", 3, "expected"),
    (PROGRAM + 'a = "unclosed', 3, ""),
]


@pytest.mark.parametrize("text, line, message", WRONG)
def test_wrong_keys_and_values_are_reported_with_their_line(write, text, line, message):
    with pytest.raises(UsageError) as caught:
        read_config(write(text))
    assert str(caught.value).startswith(f"whence.toml:{line}: ")
    assert message.lower() in str(caught.value).lower()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cases", ["", "[cases]\n", "[cases]\nfolder = 'nowhere'\n", "[cases]\nfiles = 'f'\n"])
def test_cases_can_come_from_elsewhere(write, cases):
    config = read_config(write(PROGRAM + cases), needs_cases=False)
    assert (config.cases.folder, config.cases.file, config.cases.command) == (None, None, None)


def test_keys_of_cases_that_come_from_nowhere_are_refused(write):
    for key in ("reference = 'x'", "verdict = 'tap'", "capture = true"):
        with pytest.raises(UsageError, match=r"toml:4: .* belongs to .*, which is not set"):
            read_config(write(PROGRAM + "[cases]\n" + key), needs_cases=False)


def test_missing_file(tmp_path):
    with pytest.raises(UsageError, match=r"no whence\.toml in") as caught:
        read_config(tmp_path)
    assert "whence init" in caught.value.hint


def test_lines_in_texts_are_no_keys():
    text = 'a = """\n[b]\nc = 1\n"""\n[b]\n# c = 1\n"c" = 2\n'
    assert line_of(text, ("b", "c")) == 7
    assert line_of(text, ("b",)) == 5
    assert line_of(text, ("z",)) == 1
