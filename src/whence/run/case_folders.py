"""The folders that cases run in: filled anew, or used again where the run before left them as they were.

To copy many files for each run takes most of its time, and most runs only read them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path

from whence.run.brought_back import State, bring_back, state_of
from whence.run.cases import Case, Suite
from whence.run.sandbox import Sandbox, Slot, copy_files, remove_tree
from whence.run.suite_copy import SuiteCopy

MANY_FILES = 20  # of a case, from which on a folder that a run has left as it was is used again


def goes_on(case: Case) -> bool:
    """Whether the case runs in the folder that the case before it has left."""
    return case.suite is not None and not case.suite.fresh


class CaseFolders:
    """The spare folders of a sandbox's slots, in which cases run; ``program`` is put into those of suites."""

    def __init__(self, sandbox: Sandbox, program: Path) -> None:
        self.program = program
        self._sandbox = sandbox
        self._copies: dict[Path, SuiteCopy] = {}
        self._known: dict[Path, tuple[Hashable, State]] = {}  # what each that can be used again was filled with

    def make_ready(self, case: Case, slot: Slot) -> bool:
        """Let the slot's folder hold what the case starts with; False where it starts with nothing, and has none.

        Raises SubjectError when a file cannot be copied.
        """
        fill = self._filling(case)
        if fill is None:
            if self._known.pop(slot.spare, None):
                remove_tree(slot.spare)  # where the server puts what this case leaves
            return False
        is_there = goes_on(case) and slot.spare.exists() and not self.is_known(slot)
        if not is_there and not self._is_brought_back(case, slot):
            self._sandbox.prepare(slot, fill)
            if (content := self._content_of(case)) is not None:
                self._known[slot.spare] = content, state_of(slot.spare)
        return True

    def is_known(self, slot: Slot) -> bool:
        """Whether it is known what the slot's folder held before its run, so that it may be used again."""
        return slot.spare in self._known

    def _filling(self, case: Case) -> Callable[[Path], None] | None:
        """What fills the case's folder."""
        if case.suite is not None:
            return partial(self._copy_suite, case, case.suite)
        return partial(copy_files, case.files) if case.files else None

    def _copy_suite(self, case: Case, suite: Suite, target: Path) -> None:
        if suite.folder is not None:
            self._copy_of(suite.folder).make(target, self._sandbox.work)
        if suite.program is not None:
            self._place_program(target / suite.program)
        copy_files(case.files, target)

    def _copy_of(self, folder: Path) -> SuiteCopy:
        return self._copies.setdefault(folder, SuiteCopy(folder))

    def _place_program(self, place: Path) -> None:
        times = place.stat() if place.exists() else None
        place.unlink(missing_ok=True)
        shutil.copy2(self.program, place)
        if times:  # make must not think that anything has changed
            os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))

    # ---- Used again --------------------------------------------------------------------------------------------------

    def _content_of(self, case: Case) -> Hashable | None:
        """What a folder that can be used again is filled with: a suite's folder, or many files; None: it cannot."""
        if goes_on(case):
            return None
        if case.suite is None:
            return case.files if len(case.files) >= MANY_FILES else None
        return (case.suite, self.program) if case.suite.folder is not None and not case.files else None

    def _is_brought_back(self, case: Case, slot: Slot) -> bool:
        """Whether the folder that an earlier run had is there, and is as it was before."""
        content, (key, before) = self._content_of(case), self._known.pop(slot.spare, (None, State()))
        if content is None or key != content:
            return False
        try:
            if case.suite is None:  # after a change all is copied anew, lest a folder lists its files in another order
                after = state_of(slot.spare)
                if after != before:
                    return False
            else:
                after = self._suite_brought_back(case.suite, slot, before)
        except OSError:  # it is filled anew
            return False
        self._known[slot.spare] = key, after
        return True

    def _suite_brought_back(self, suite: Suite, slot: Slot, before: State) -> State:
        assert suite.folder is not None
        folder, program, copy = suite.folder, suite.program, self._copy_of(suite.folder)

        def put(name: str) -> None:
            if os.path.lexists(folder / name):
                copy.make_one(name, slot.spare, self._sandbox.work)
            if name == program:
                self._place_program(slot.spare / name)

        return bring_back(slot.spare, before, put)
