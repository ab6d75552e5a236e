"""A subject: its variants, built once, whoever asks first; and what runs tell of its cases."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from whence.probe.instrument import Variant
from whence.project import open_folder
from whence.run.cases import cases_from_options
from whence.run.sandbox import DEFAULT_LIMITS
from whence.subject.subject import built_from_sources, settle, subject_from_sources


def test_threads_that_need_a_variant_at_once_get_it(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(f"int main(int argc, char **argv) {{ return argc > {uuid4().int % 10_000}; }}\n")
    subject = subject_from_sources([source], [], [], DEFAULT_LIMITS)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(subject.variant, Variant.ALTER) for _ in range(4)]
        found = {job.result() for job in jobs}
    assert len(found) == 1 and found.pop().is_file()


ENDLESS = """\
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int n = atoi(argv[1]);
    while (n > 9)
        n = n * 3 % 10 + 10;
    printf("%d\\n", n);
    return 0;
}
"""


def test_a_run_that_does_not_end_is_not_waited_for_to_learn_whether_outputs_end_with_a_line(tmp_path: Path) -> None:
    source = tmp_path / "endless.c"
    source.write_text(ENDLESS)
    subject = built_from_sources([source], [], replace(DEFAULT_LIMITS, time=60.0))
    began = time.monotonic()
    cases = settle(subject, cases_from_options(["12"], ["2"], ["3"]))
    assert time.monotonic() - began < 10
    assert [case.expected and case.expected.stdout for case in cases] == [b"2\n", b"3\n"]


def test_the_build_of_a_configuration_runs_once(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text("int main(int argc, char **argv) { return argc > 1; }\n")
    case = tmp_path / "cases/one"
    case.mkdir(parents=True)
    (case / "args").write_text("1")
    build = "echo built >>log; whence-cc -o p p.c"
    (tmp_path / "whence.toml").write_text(f'[program]\npath = "p"\nbuild = "{build}"\n[cases]\nfolder = "cases"\n')
    with open_folder(tmp_path) as project:
        assert len(project.investigation.runs.failing) == 1
    assert (tmp_path / "log").read_text() == "built\n"
