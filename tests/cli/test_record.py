from __future__ import annotations

import json
import os
import subprocess

import pytest
from cli_programs import kinds
from cli_tool import subject_folder, whence

from whence.subject.recorder import ENDLESS
from whence.trace.trace import open_units, read_header

ENDS = {
    "words a": ("pass", "exit status 0"),
    "status 5": ("wrong status", "exit status 3"),
    "crash five": ("crash", "SIGSEGV"),
    "assert 2": ("assertion", "SIGABRT"),
}


@pytest.mark.parametrize("line", ENDS)
def test_how_the_run_ended(line):
    done = whence(kinds(), "record", "kinds.c", "--fails", line, "--json")
    described = json.loads(done.out)
    assert done.status == 0
    assert (described["outcome"], described["ended"]) == ENDS[line]
    assert 0 < described["blocks"] < described["events"]


def test_text_and_chosen_case():
    done = whence(kinds(), "record", "kinds.c", "--fails", "words a", "--passes", "words b c", "--case", "passes 1")
    assert "case               passes 1\n" in done.out and "trace bytes" in done.out


def test_trace_is_kept(tmp_path):
    done = whence(kinds(), "record", "kinds.c", "--fails", "words a", "--output", str(tmp_path / "a.trace"))
    assert done.status == 0
    assert read_header(open_units(tmp_path / "a.trace")).end == "exit"


def test_no_trace_is_left_where_it_cannot_be_written(tmp_path):
    done = whence(kinds(), "record", "kinds.c", "--fails", "words a", "--output", str(tmp_path / "none" / "a.trace"))
    assert done.status == 2 and "cannot write the trace to" in done.err


def test_variant_is_a_program(tmp_path):
    done = whence(kinds(), "record", "kinds.c", "--passes", "words", "--executable", str(tmp_path / "variant"))
    assert done.status == 0
    variant = subprocess.run([tmp_path / "variant", "words", "x"], capture_output=True, check=False, env=os.environ)
    assert variant.stdout == b"x\n"


def test_wrong_use():
    assert "no case to record" in whence(kinds(), "record", "kinds.c").err
    assert "no case is named 'x'" in whence(kinds(), "record", "kinds.c", "--fails", "words", "--case", "x").err


LONG = """\
int main(void)
{
    volatile int left = 1000000;
    while (left > 0)
        left--;
    return 1;
}
"""


def test_limit():
    long = subject_folder("long", long_c=LONG)
    small = whence(long, "record", "long.c", "--fails", "", "--trace-limit", "1M")
    assert small.status == 2
    assert "the recording reached its limit of 1 MiB" in small.err and "--trace-limit" in small.err


def test_what_does_not_end_is_recorded_in_part_and_in_time():
    words = ["record", "kinds.c", "--timeout", "0.1", "--fails", "loop 3", "--json"]
    whole = json.loads(whence(kinds(), *words).out)
    assert whole["outcome"] == "timeout" and whole["trace_bytes"] <= ENDLESS + (1 << 20)
    small = json.loads(whence(kinds(), *words, "--trace-limit", "1M").out)
    assert small["ended"] == "time limit, of which the beginning is recorded" and small["trace_bytes"] <= 1 << 21
    window = json.loads(whence(kinds(), *words, "--window", "1M").out)
    assert window["ended"] == "time limit" and window["trace_bytes"] <= 1 << 21
