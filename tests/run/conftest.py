"""Runners on the programs of ``run_programs``, and a suite's folder, for the tests of runs."""

from __future__ import annotations

import os

import pytest
from run_programs import LIMITS, PLAIN, SERVED, STARTED, subject

from whence.run.runner import Runner


@pytest.fixture(scope="module", params=[SERVED, PLAIN, STARTED])
def runner(request):
    with Runner(subject(request.param), LIMITS, name="./subject", coverage=request.param != PLAIN) as made:
        yield made


@pytest.fixture(scope="module")
def served():
    with Runner(subject(SERVED), LIMITS, name="./subject") as made:
        yield made


@pytest.fixture
def suite_folder(tmp_path):
    folder = tmp_path / "suite"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/prog").write_text("#!/bin/sh\necho the user's own\n")
    os.utime(folder / "bin/prog", (1000, 1000))
    return folder
