"""What reading recorded runs takes, compiled before there is one: by going over a run of nothing, of no program."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from whence.subject.memory_check import Checker
from whence.subject.program_text import ProgramText
from whence.subject.subject import Subject
from whence.trace.columns import new_columns
from whence.trace.compact import recipes_of
from whence.trace.decode import decode, new_stacks
from whence.trace.dependence import gather_cell, gather_event
from whence.trace.expand import expand
from whence.trace.kernels import compile_for, is_kept
from whence.trace.machine import Ending, new_machine
from whence.trace.shadow import new_shadow
from whence.trace.slicing import backward_slice


def subject_of_nothing() -> Subject:
    """A subject without code, whose tables have the types that those of any other have."""
    subject = Subject(Path(), Path("nothing"), [])
    subject.text = ProgramText((), ())
    return subject


class Slicing:
    """Traces decoded and sliced, and what one event depends on."""

    @staticmethod
    def is_compiled() -> bool:
        """Whether all of it has been compiled before; what is compiled last tells of an attempt that was ended."""
        return all(is_kept(kernel) for kernel in (decode, gather_event, gather_cell))

    def compile(self) -> None:
        """Compile it."""
        plan, columns = subject_of_nothing().plan, new_columns()
        units = np.zeros(0, np.uint32)
        units.flags.writeable = False  # as those of a trace are
        decode(units, np.zeros(0, np.int64), plan, columns, new_shadow(), new_stacks(1))
        backward_slice(plan, columns, np.zeros(0, np.int64))
        buffer = np.zeros(0, np.int64)
        compile_for(gather_event, plan, columns, 0, True, buffer)
        compile_for(gather_cell, plan, columns, 0, buffer)


class Expanding:
    """Compact traces, of long runs, made whole."""

    @staticmethod
    def is_compiled() -> bool:
        """Whether that has been compiled before."""
        return is_kept(expand)

    def compile(self) -> None:
        """Compile it."""
        subject = subject_of_nothing()
        units, chunks = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        units.flags.writeable = False
        recipes = recipes_of(subject.program)
        ending = Ending(True, 0, 0, 0, 0)
        expand(units, chunks, True, subject.plan, recipes, ending, np.zeros(0, np.uint32), new_machine())


def what_reads_runs() -> tuple[Slicing, Checker, Expanding]:
    """The parts that every diagnosis needs; the last one where a run is long."""
    return Slicing(), Checker(subject_of_nothing()), Expanding()
