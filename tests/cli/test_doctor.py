from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import whence
from tests.support.cli_tool import subject_folder, write
from whence.cli import doctor as module
from whence.cli.checks import Report, Weakness, run_check
from whence.cli.doctor import check_kernels, check_room, check_store, doctor
from whence.cli.subject_checks import examine_subject
from whence.errors import BuildError
from whence.trace.kernels import Kernel

# Kernels that take half a second to compile where they are asked for.
QUICK = {"_records", "_threads", "_longest_increasing", "_check_orders"}


@pytest.fixture(scope="module")
def fit() -> tuple[Result, set[str]]:
    """What ``whence doctor`` printed, and the names of the kernels that it compiled or called."""
    called = set()

    def noted(kernel: Kernel, *args: Any) -> Any:
        called.add(kernel.py_func.__name__)
        return call(kernel, *args)

    call = Kernel.__call__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "__call__", noted)
        return CliRunner().invoke(doctor), called


def names_called(node: ast.AST, names: set[str]) -> Iterator[str]:
    """Which of these names Python code calls: not what kernels call."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and any(
            isinstance(one, ast.Name) and one.id in ("lean", "inlined") for one in child.decorator_list
        ):
            continue
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in names:
            yield child.func.id
        yield from names_called(child, names)


def test_kernels_that_commands_call_are_compiled_ahead_of_time(fit):
    wanted = set()
    for path in Path(whence.__file__).parent.rglob("*.py"):
        if "@lean" in (text := path.read_text()):
            wanted |= set(names_called(ast.parse(text), set(re.findall(r"@lean\ndef (\w+)", text))))
    for name in ("decode", "put_in_order", "follow", "find_unordered", "event_in_block", "started"):
        wanted.add(name)  # called from other modules
    assert wanted - fit[1] - QUICK == set()


def test_this_machine_is_fit(fit):
    result, _ = fit
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


# ---- The subject -----------------------------------------------------------------------------------------------------

HALF = '#include <stdio.h>\nint main(void) { int n = 0; scanf("%d", &n); printf("%d\\n", n / 2); return 0; }\n'


def subject(name: str, cases: str = 'file = "cases.txt"\noutputs = "right"', right: tuple[str, ...] = ("2", "4")):
    folder = subject_folder(f"doctor-{name}", half_c=HALF, cases_txt="< four\n< seven\n", four="4\n", seven="7\n")
    for number, text in enumerate(right):
        write(folder / "right" / f"{number}", text + "\n")
    write(folder / "whence.toml", f'[program]\nsources = ["half.c"]\n[cases]\n{cases}\n')
    return folder


def checked(folder) -> dict[str, Report]:
    return {report.name: report for report in examine_subject(folder)}


def test_a_subject_with_a_failing_and_a_passing_case():
    found = checked(subject("fit"))
    assert {report.state for report in found.values()} == {"ok"}
    assert found["failure"].detail == "1 fail, 1 pass; `2` is one that fails"
    assert found["program"].detail == "half has 1 captured module"


def test_no_case_fails():
    assert checked(subject("passing", right=("2", "3")))["failure"].state == "FAIL"


def test_nothing_passes():
    assert checked(subject("failing", right=("3", "4")))["failure"].state == "weak"


def test_a_program_that_does_not_compile_ends_the_checks():
    folder = subject("broken")
    write(folder / "half.c", "int main(void) { return x; }")
    found = checked(folder)
    assert list(found)[-1] == "program"
    assert found["program"].state == "FAIL" and "undeclared" in found["program"].detail


def test_a_suite_whose_cases_are_commands():
    found = checked(subject("commands", cases='command = "test $(echo 5 | ./half) = 3"'))
    assert found["suite"].state == "weak" and "capture = true" in found["suite"].hint


def test_a_case_that_is_left_out_is_named_with_the_reason():
    found = checked(subject("skipped", cases='command = "echo 2 | ./half; exit {name}"\nnames = ["0", "77", "1"]'))
    assert found["cases"].detail == "1 of 3 are left out" and "77: skipped" in found["cases"].hint
