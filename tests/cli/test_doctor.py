from __future__ import annotations

import pytest
from click.testing import CliRunner

from whence.cli import doctor as module
from whence.cli.doctor import Weakness, check_kernels, check_room, check_store, doctor, run_check
from whence.errors import BuildError


def test_this_machine_is_fit():
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0].startswith("ok   Python: 3.")
    assert lines[-1] == "everything that Whence needs is here"
    assert "FAIL" not in result.output
    assert 'a fault is located: line 1 of standard output is "19", expected "18" comes of line' in result.output


def fail() -> str:
    raise BuildError("the compiler is gone", "install it again")


def break_down() -> str:
    raise ImportError("no module")


def weaken() -> str:
    raise Weakness("little room", "free some")


@pytest.mark.parametrize(
    "check, state, detail, hint",
    [
        (lambda: "fine", "ok", "fine", ""),
        (fail, "FAIL", "the compiler is gone", "install it again"),
        (break_down, "FAIL", "ImportError: no module", ""),
        (weaken, "weak", "little room", "free some"),
    ],
)
def test_what_a_check_raises_is_reported(check, state, detail, hint):
    report = run_check("x", check)
    assert (report.state, report.detail, report.hint) == (state, detail, hint)


@pytest.mark.parametrize("check, status", [(fail, 1), (weaken, 0)])
def test_exit_status(monkeypatch, check, status):
    monkeypatch.setattr(module, "CHECKS", {"one": check})
    result = CliRunner().invoke(doctor)
    assert result.exit_code == status
    assert "     help: " in result.output


def test_store_that_cannot_be_made(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("WHENCE_HOME", str(tmp_path / "file/home"))
    assert run_check("store", check_store).state == "FAIL"


def test_little_room_is_a_weakness(monkeypatch):
    monkeypatch.setattr(module, "ROOM_FOR_TRACES", 1 << 62)
    assert run_check("room", check_room).state == "weak"


def test_cache_of_kernels():
    assert run_check("kernels", check_kernels).detail.startswith("numba ")
