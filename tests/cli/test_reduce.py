"""``whence reduce`` as a user sees it."""

from __future__ import annotations

import base64
import subprocess
import sys

import pytest
from cli_tool import subject_folder, time_up_after_the_runs, whence
from inputs_programs import BRACKETS, RIGHT_SUM, SUM, right_sum

FOLDER = subject_folder("reduce", brackets_c=BRACKETS, sum_c=SUM, sum_txt="7 120 8\n", br_txt="a(b\nc)d)\n")


def brackets(*words: str):
    return whence(FOLDER, "reduce", "brackets.c", *words)


def sums(*words: str):
    return whence(FOLDER, "reduce", "sum.c", "--fails", "< sum.txt", "--expect", "sum 135", *words)


def test_a_crash_is_reduced():
    done = brackets("--fails", "< br.txt")
    assert done.status == 0
    assert "reduced stdin of the case `fails 1` from 9 bytes to 1\n" in done.out
    assert "the symptom that was kept: crash at brackets.c:" in done.out
    assert done.out.endswith("\n\n)\n") and "good inputs" not in done.out


def test_arguments_are_printed_as_a_shell_reads_them():
    done = brackets("--fails", "'x y(' 'b)' 'z )'")
    assert done.status == 0 and done.out.endswith("\n\n')'\n")
    one = brackets("--fails", "'x y(' 'b)' 'z )'", "--input", "arg:3")
    assert "reduced arg:3 of" in one.out and one.out.endswith("\n\n')'\n")


def test_a_wrong_output_needs_a_reference():
    done = sums()
    assert done.status == 2 and "nothing tells what is right for another input" in done.err
    assert "--reference PROGRAM" in done.err and "--still REGEX" in done.err
    done = sums("--reference", str(right_sum()))
    assert done.status == 0 and done.out.endswith("\n\n120\n")
    assert "what is right was told by the reference program" in done.out


def test_or_a_pattern():
    done = sums("--still", "sum 3", "--close", "--number", "2")
    assert done.status == 0 and "good where the output has no match of --still" in done.out
    assert done.out.count("  distance ") == 4


def test_close_inputs_are_listed():
    done = sums("--reference", str(right_sum()), "--close", "--number", "3")
    assert done.status == 0
    assert "\ngood inputs, nearest first:\n  distance 1 " in done.out
    assert "\nfailing inputs, nearest first:\n  distance 1 " in done.out
    assert done.out.count("  distance ") == 6


def test_json():
    found = sums("--reference", str(right_sum()), "--close", "--number", "3", "--json").json
    assert found["technique"] == "reduce" and found["ranking"] == []
    assert found["symptom"]["kind"] == "wrong-output" and found["symptom"]["file"] == "sum.c"
    inputs = found["inputs"]
    assert inputs["reduced"] == {"text": "120"} and inputs["minimal"] is True
    assert (inputs["channel"], inputs["oracle"], inputs["specification"]) == ("stdin", "reference", "words")
    assert (inputs["size"], inputs["reduced_size"]) == (8, 3)
    assert len(inputs["good"]) == len(inputs["failing"]) == 3 and inputs["tried"] <= inputs["executions"]
    assert "good" not in brackets("--fails", "< br.txt", "--json").json["inputs"]


def test_binary_inputs(tmp_path):
    raw = bytes(range(128, 160))
    (FOLDER / "raw.bin").write_bytes(raw + b"]" + raw)
    done = brackets("--fails", "raw.bin", "--output", str(tmp_path / "new" / "out"), "--close", "--json")
    inputs = done.json["inputs"]
    assert (tmp_path / "new" / "out").read_bytes() == b"]" and inputs["channel"] == "file:raw.bin"
    codes = [base64.b64decode(one["input"]["base64"]) for one in inputs["failing"] if "base64" in one["input"]]
    assert all(b"]" in data for data in codes)
    assert (FOLDER / "raw.bin").read_bytes() == raw + b"]" + raw


def test_a_program_of_a_configuration():
    toml = '[program]\nsources = ["sum.c"]\n[cases]\nfile = "cases.txt"\nreference = "right"\n'
    folder = subject_folder("reduce-toml", sum_c=SUM, right_c=RIGHT_SUM, one_txt="7 120\n", two_txt="8 9\n")
    (folder / "cases.txt").write_text("< one.txt\n< two.txt\n")
    (folder / "whence.toml").write_text(toml)
    (folder / "right").write_bytes(right_sum().read_bytes())
    (folder / "right").chmod(0o755)
    done = whence(folder, "reduce")
    assert done.status == 0 and "of the case `1` from 6 bytes to 3" in done.out and done.out.endswith("\n120\n")


def test_a_recording_that_is_too_long():
    (FOLDER / "long.txt").write_bytes(b"x" * 200_000 + b")")
    done = brackets("--fails", "< long.txt", "--trace-limit", "4K")
    assert done.status == 0 and "where the failure shows is not compared: " in done.out
    assert "crash at" not in done.out and done.out.endswith("\n\n)\n")
    done = brackets("--fails", "< long.txt", "--window", "1M")
    assert done.status == 0 and "crash at brackets.c:" in done.out


def test_the_budget_is_kept():
    done = brackets("--fails", "< br.txt", "--runs", "3")
    assert done.status == 0 and "stopped early (its runs are used up)" in done.out
    with time_up_after_the_runs():
        done = brackets("--fails", "< br.txt", "--close")
    assert done.status == 1 and "stopped early (its time is used up)" in done.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--passes", "'()'"), "no case fails"),
        (("--fails", ")", "--input", "file:x"), "has no such file"),
        (("--fails", ")", "--input", "stdin:x"), "not one of stdin, file:NAME, arg:NUMBER and args"),
        (("--fails", ")", "--rejects", "("), "--rejects (: no regular expression"),
        (("--fails", ")", "--spec", "klingon"), "no such file"),
        (("--fails", ")", "--html", "x.html"), "writes no page"),
        (("--fails", ")", "--reference", "none", "--still", "x"), "has no match"),
        (("--fails", ")", "--reference", "none"), "no reference program"),
        (("--fails", ")", "--output", "/proc/none/x"), "cannot write /proc/none/x"),
    ],
)
def test_errors_are_one_line(words, says):
    done = brackets(*words)
    assert done.status == 2 and says in done.err and len(done.err.splitlines()) <= 3


def test_a_specification_with_an_error(tmp_path):
    (tmp_path / "bad.toml").write_text('[[token]]\nkind = "string"\npattern = "["\n')
    done = brackets("--fails", ")", "--spec", str(tmp_path / "bad.toml"))
    assert done.status == 2 and "bad.toml:3: pattern: no regular expression" in done.err


ENDED = """
import os, signal, sys
from whence.cli import run
from whence.cli.supervisor import supervise
from whence.inputs.judge import Judge
judge = Judge.judge
def judged(self, candidates, before=[]):
    before.append(len(candidates))
    if len(before) > 8:
        os.kill(os.getpid(), signal.SIGKILL)
    return judge(self, candidates)
Judge.judge = judged
sys.exit(supervise(run))
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_was_found_is_shown_when_the_command_is_ended(tmp_path, form):
    words = ["reduce", "--budget", "10m", "brackets.c", "--fails", "< br.txt", "--output", str(tmp_path / "small")]
    words += ["--json"] if form == "json" else []
    command = [sys.executable, "-c", ENDED, *words]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "stopped early: whence was killed" in done.stdout
    assert 0 < len((tmp_path / "small").read_text()) < len("a(b\nc)d)\n")
