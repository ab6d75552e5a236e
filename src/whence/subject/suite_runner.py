"""Runs the tests of a suite with shims (``build/shim.py``) in the place of the program, and of those that compare."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whence.build.shim import place_shim
from whence.run.cases import Case, own_path
from whence.run.invocations import Invocation, read_invocations
from whence.run.oracle import judge
from whence.run.runner import Runner
from whence.run.sandbox import PINNED, Limits
from whence.run.taken_apart import JUDGES, TestRun, Told

SLOWER = 3  # a test may take this many times as long with the shim as without
MOST, TOGETHER = 16 << 20, 64 << 20  # bytes of a file, and of all files of an invocation
INSTEAD = "instead"  # as probe/capture/shim.c has it


class SuiteRunner:
    """Runs tests (``commands``) once each, with shims in the place of the program and of ``JUDGES``. Close it."""

    def __init__(self, executable: Path, limits: Limits, name: str) -> None:
        self._runner = Runner(executable, replace(limits, time=limits.time * SLOWER), name=name)
        self._count = 0
        self.work = self._runner.sandbox.work
        self._root = self._runner.sandbox.root
        for judge_name in JUDGES:
            if (program := shutil.which(judge_name, path=PINNED["PATH"])) is not None:
                self._place(self._root / "judges" / judge_name, Path(program), "judged")
        shim_place = self._root / "shim" / executable.name
        self._place(shim_place, executable.resolve(), "kept")
        self._runner.stand_in(shim_place)

    def __enter__(self) -> SuiteRunner:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def _place(self, place: Path, program: Path, kept: str) -> None:
        place_shim(place, program, self._root / kept, self.work, MOST, TOGETHER)

    def run(self, case: Case, told: Mapping[int, Told] | None = None) -> TestRun:
        """One test; what was kept of its invocations is there until the runner is closed.

        It is ``told`` something else than they gave of those invocations that begin as these numbers (from 1 on).
        """
        names = ("kept", "judged")
        for name in names:
            (self._root / name).mkdir()
        for number, instead in (told or {}).items():
            place = self._root / "kept" / f"{INSTEAD}.{number}"
            if instead.status is not None:
                place.write_text(str(instead.status))
            if instead.stdout is not None:
                place.with_name(f"{place.name}.out").write_bytes(instead.stdout)
        path = f"{self._root / 'judges'}:{case.environment.get('PATH', PINNED['PATH'])}"
        self._count += 1
        try:
            result = self._runner.run_case(replace(case, environment={**case.environment, "PATH": path}))
        finally:
            for name in names:
                (self._root / name).rename(self._root / f"{name}.{self._count}")
        found = [read_invocations(self._root / f"{name}.{self._count}") for name in names]
        output, says = result.stdout + result.stderr, case.failing_output
        return TestRun(case.name, judge(case, result), found[0], found[1], output, failing_output=says)

    def number(self, invocation: Invocation) -> int:
        """As which one of its test an invocation began, from 1 on; those that others made count."""
        begun = next(self._root.glob(f"kept.*/{invocation.order}")).parent
        return sorted(path.name for path in begun.iterdir()).index(invocation.order) + 1

    def own(self, variables: dict[str, str]) -> dict[str, str]:
        """The variables of an invocation without what every run is given, and without what finds the judges."""
        own = dict(variables)
        own["PATH"] = own.get("PATH", PINNED["PATH"]).replace(f"{self._root / 'judges'}:", "")
        if own["PATH"] == own_path():
            del own["PATH"]
        given = {**PINNED, "HOME": str(self.work), "PWD": str(self.work), "TMPDIR": str(self.work)}
        return {name: value for name, value in own.items() if given.get(name) != value}
