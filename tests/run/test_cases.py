from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import SubjectError, UsageError
from whence.run.cases import _files_named, cases_from_options, load_cases, natural_key, split_line
from whence.run.config import read_config
from whence.run.outcome import Expected, Rule


@pytest.fixture
def load(tmp_path):
    def load(cases, files=None, more=""):
        for name, text in (files or {}).items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "whence.toml").write_text(f'[program]\npath = "bin/prog"\n[cases]\n{cases}\n{more}')
        return load_cases(read_config(tmp_path))

    return load


# ---- Command lines ---------------------------------------------------------------------------------------------------


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"))), st.text("ab <'\"", min_size=1))
def test_quoted_words_come_back(arguments, name):
    line = shlex.join(arguments)
    assert split_line(line, "w") == (tuple(arguments), None)
    assert split_line(f"{line} < {shlex.quote(name)}", "w") == (tuple(arguments), name)


@pytest.mark.parametrize(
    "line, arguments, stdin",
    [
        ("", (), None),
        ("4 9 2", ("4", "9", "2"), None),
        ("-e 's/a b/c/' < in.txt", ("-e", "s/a b/c/"), "in.txt"),
        ("<in -x", ("-x",), "in"),
        (r"a\<b '<' c", ("a<b", "<", "c"), None),
    ],
)
def test_split_line(line, arguments, stdin):
    assert split_line(line, "w") == (arguments, stdin)


@pytest.mark.parametrize(
    "line, message",
    [
        ("it's", r"w: cannot split the command line \(No closing quotation\)"),
        ("a <", "w: one file is expected after '<'"),
        ("a < b < c", "w: one file is expected after '<'"),
        ("a | b", "w: only '< file' can be redirected, not '|'"),
        ("a > b", "not '>'"),
    ],
)
def test_lines_that_cannot_be_used(line, message):
    with pytest.raises(UsageError, match=message.replace("|", r"\|")):
        split_line(line, "w")


def test_cases_from_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("x")
    cases = cases_from_options(["4 9 2", "--f=in < in"], ["1 values\n", None], ["5 7"])
    assert [case.name for case in cases] == ["fails 1", "fails 2", "passes 1"]
    assert [case.arguments for case in cases] == [("4", "9", "2"), ("--f=in",), ("5", "7")]
    assert [case.expected for case in cases] == [Expected(b"1 values\n"), Expected(), None]
    assert cases[1].stdin == tmp_path / "in"
    assert cases[1].files == (("in", tmp_path / "in"),)
    with pytest.raises(UsageError, match="--passes: no such input file: none"):
        cases_from_options([], [], ["< none"])


# ---- A folder of cases -----------------------------------------------------------------------------------------------


def test_folder_of_subfolders(load, tmp_path):
    files = {
        "cases/t10/args": "a 'b c'\nd\n",
        "cases/t10/stdin": "in",
        "cases/t10/expected": "out",
        "cases/t10/stderr": "err",
        "cases/t10/status": "3\n",
        "cases/t10/env": "X=1=2\n\nY=\n",
        "cases/t10/files/sub/f": "f",
        "cases/t10/expected-files/out/a": "left",
        "cases/t2/stdout": "two",
        "cases/README": "not a case",
    }
    two, ten = load('folder = "cases"', files)
    assert (two.name, two.arguments, two.stdin) == ("t2", (), None)
    assert two.expected == Expected(b"two", None, 0)
    assert (ten.name, ten.arguments) == ("t10", ("a", "b c", "d"))
    assert ten.stdin == tmp_path / "cases/t10/stdin"
    assert ten.environment == {"X": "1=2", "Y": ""}
    assert ten.expected == Expected(b"out", b"err", 3, (("out/a", b"left"),))
    assert ten.files == (("sub", tmp_path / "cases/t10/files/sub"),)
    assert ten.rule is Rule.OUTPUT


def test_folder_of_file_groups(load, tmp_path):
    files = {
        "cases/a.in": "1",
        "cases/a.out": "2",
        "cases/a.files/x": "",
        "cases/b.args": "q",
        "cases/b.out": "r",
    }
    a, b = load('folder = "cases"', files)
    assert (a.name, a.stdin, a.expected) == ("a", tmp_path / "cases/a.in", Expected(b"2"))
    assert (b.name, b.arguments) == ("b", ("q",))


@pytest.mark.parametrize("argument", ["-fdata/x", "@data/x", "key=@data/x", "-d@data/x"])
def test_files_that_arguments_name_in_other_ways(load, argument):
    (case,) = load('folder = "cases"', {"data/x": "", "cases/a.args": argument})
    assert [name for name, _ in case.files] == ["data/x"]


def test_files_that_arguments_name_are_put_into_the_working_folder(load, tmp_path):
    (case,) = load('folder = "cases"', {"data/x": "", "cases/a.args": "data/x --in=data/x ../out /etc/passwd data"})
    assert case.files == (("data/x", tmp_path / "data/x"),)


def test_shared_files_and_environment(load, tmp_path):
    more = 'files = ["data/*"]\nenvironment = {A = "all", B = "all"}'
    files = {"data/x": "", "cases/a.env": "B=own\n", "cases/a.out": ""}
    (case,) = load(f'folder = "cases"\n{more}', files)
    assert case.files == (("data/x", tmp_path / "data/x"),)
    assert case.environment == {"A": "all", "B": "own"}
    with pytest.raises(SubjectError, match="nothing matches none"):
        load('folder = "cases"\nfiles = ["none*"]')


@pytest.mark.parametrize(
    "files, message",
    [
        ({"cases/README": ""}, "no cases were found in"),
        ({"cases/a.status": "three"}, r"a\.status: an exit status was expected, not 'three'"),
        ({"cases/a.env": "A=1\nB\n"}, r"a\.env:2: NAME=value was expected"),
        ({"cases/a.args": "x < y"}, "standard input belongs into a file of its own"),
    ],
)
def test_folder_that_cannot_be_used(load, files, message):
    with pytest.raises(SubjectError, match=message):
        load('folder = "cases"', files)


# ---- A file of command lines -----------------------------------------------------------------------------------------


def test_file_with_reference(load, tmp_path):
    cases = load('file = "cases.txt"\nreference = "good"', {"cases.txt": "# c\na 'b'\n\n< in\n", "in": "x"})
    assert [(case.name, case.arguments, case.expected) for case in cases] == [
        ("1", ("a", "b"), None),
        ("2", (), None),
    ]
    assert cases[1].stdin == tmp_path / "in"


def test_file_with_outputs(load):
    lines = "".join(f"{n}\n" for n in range(1, 12))
    files = {"cases.txt": lines} | {f"outputs/t{n}": f"out {n}" for n in range(1, 12)}
    cases = load('file = "cases.txt"\noutputs = "outputs"', files)
    assert [case.expected for case in cases] == [Expected(b"out %d" % n, status=None) for n in range(1, 12)]
    with pytest.raises(SubjectError, match="holds 12 outputs for 11 cases"):
        load('file = "cases.txt"\noutputs = "outputs"', {"outputs/extra": ""})


def test_wrong_line_of_a_file_is_named(load):
    with pytest.raises(UsageError, match=r"cases\.txt:3: no such input file: none"):
        load('file = "cases.txt"\nreference = "good"', {"cases.txt": "a\n\nb < none\n"})


# ---- Commands --------------------------------------------------------------------------------------------------------


def test_command_alone(load, tmp_path):
    (case,) = load('command = "make check"')
    assert (case.name, case.command, case.rule) == ("command", "make check", Rule.STATUS)
    assert case.suite is not None
    assert (case.suite.folder, case.suite.program, case.suite.fresh) == (tmp_path, "bin/prog", True)
    assert case.skip_statuses == (77,)


def test_command_with_names(load):
    cases = load('command = "make check TESTS={name}"\nnames = ["a b", "c"]\nverdict = "automake"\ncopy = "once"')
    assert [case.command for case in cases] == ["make check TESTS='a b'", "make check TESTS=c"]
    assert {case.rule for case in cases} == {Rule.AUTOMAKE}
    assert not any(case.suite.fresh for case in cases if case.suite)


def test_command_with_scripts(load):
    cases = load('command = "sh {name}"\nscripts = "t/*.sh"', {"t/t10.sh": "", "t/t2.sh": "", "t/x": ""})
    assert [case.name for case in cases] == ["t/t2.sh", "t/t10.sh"]


@pytest.mark.parametrize("printed", ["one\n two \n\none\n", "1..2\nok 1 - one\nnot ok 2 - two\n"])
def test_names_that_a_command_prints(load, printed):
    cases = load('command = "run {name}"\nnames_from = "cat list"', {"list": printed})
    assert [case.name for case in cases] == ["one", "two"]


def test_command_for_names_that_fails(load):
    with pytest.raises(SubjectError, match="names_from: `exit 3` ended with status 3"):
        load('command = "run {name}"\nnames_from = "exit 3"')


def test_natural_order():
    names = ["t10", "t2", "a", "10", "9", "t2b", ""]
    assert sorted(names, key=natural_key) == ["", "9", "10", "a", "t2", "t2b", "t10"]


@given(
    st.lists(st.text(max_size=40) | st.sampled_from(["a" * 300, "~", "/" * 5000, "x=" + "b" * 5000, "a\0b", "\ud800"]))
)
def test_any_argument_may_be_no_name_of_a_file(arguments):
    assert _files_named(arguments, Path("/nowhere")) == []


def test_a_folder_that_an_argument_names_comes_with_its_files(tmp_path, monkeypatch):
    for name in ("tables/de/a", "tables/b", "other/c"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    named = dict(_files_named(["-P", "tables", "--in=tables/b", ".", "..", "other2"], tmp_path))
    assert named == {name: tmp_path / name for name in ("tables/b", "tables/de/a")}
    monkeypatch.setattr("whence.run.cases.MOST_FILES", 2)  # there are two files and a folder
    assert _files_named(["tables"], tmp_path) == []
    monkeypatch.setattr("whence.run.cases.MOST_FILES", 3)
    monkeypatch.setattr("whence.run.cases.MOST_BYTES", 10)
    assert _files_named(["tables"], tmp_path) == []


def test_a_long_argument_is_an_argument():
    (case,) = cases_from_options(["a" * 5000], [None], [])
    assert case.arguments == ("a" * 5000,) and not case.files
    with pytest.raises(UsageError, match="no such input file"):
        cases_from_options(["x < " + "a" * 5000], [None], [])
