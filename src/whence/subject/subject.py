"""A subject: the captured program, its variants (made when first needed, kept by content) and its cases."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from whence.build.capture import Capture, read_executable, real_executable
from whence.build.memory import Memory, read_memory
from whence.build.quick import build_sources
from whence.build.store import is_sealed
from whence.build.toolchain import whence_home
from whence.build.variant import build_variant, compile_texts, link, runtime_objects
from whence.errors import SubjectError
from whence.probe.allocators import Allocator
from whence.probe.instrument import (
    Variant,
    alter_texts,
    cover_texts,
    probes_version,
    record_texts,
    replay_texts,
    suppress_texts,
)
from whence.probe.layout import starts_threads
from whence.probe.library import numbers, wrapped
from whence.probe.plan import Numbering, Plan, make_plan
from whence.probe.pointers import Declarations, Sources
from whence.probe.reorder import Movable, order_text
from whence.probe.sites import AlterPlan
from whence.program.expression import Expressions, explain
from whence.program.program import Program
from whence.run.cases import Case, following_children, load_cases
from whence.run.config import SubjectConfig
from whence.run.expectations import learn_expected, learn_from_reference
from whence.run.runner import RunLost, Runner
from whence.run.sandbox import DEFAULT_LIMITS, Limits
from whence.run.schedule import DEFAULT, read_schedule
from whence.subject.own_build import built_program, quick_folder
from whence.subject.places import Places
from whence.subject.program_text import ProgramText, keep, program_text

if TYPE_CHECKING:
    from whence.subject.coverage import OtherRun

T = TypeVar("T")
BY_DEFAULT = "by the default schedule"
ALTERED = (Variant.REPLAY, Variant.SUPPRESS, Variant.REORDER)
SOON = 1.0  # seconds in which a run has to tell whether the output ends with a line
_BUILDING = threading.Lock()  # searches have threads, and the first that needs a variant builds it
Progress = Callable[[int, int], None]


@dataclass
class Subject:
    """One program with its cases.

    ``folder`` is what statements' files are relative to, ``executable`` the plain program with captured IR, ``name``
    its ``argv[0]``, ``reference`` a program that is right, where there is one, ``allocators`` its functions that make
    and free blocks, ``remarks`` what is to be said of where its cases come from, ``others`` passing tests of other
    programs with the same functions, ``passed_tests`` the tests that passed of the suite
    that the cases were captured from. Properties raise BuildError or
    ProgramError when the program cannot be used.
    """

    folder: Path
    executable: Path
    cases: list[Case]
    limits: Limits = DEFAULT_LIMITS
    name: str = ""
    progress: Progress | None = None
    reference: Path | None = None
    allocators: tuple[Allocator, ...] = ()
    remarks: list[str] = field(default_factory=list)
    others: tuple[OtherRun, ...] = ()
    passed_tests: tuple[Case, ...] = ()
    _declarations: dict[tuple[bool, bool], tuple[Declarations, Sources]] = field(
        default_factory=dict, init=False, repr=False
    )
    _derived: dict[Callable[[Subject], Any], Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.name = self.name or f"./{self.executable.name}"

    @cached_property
    def capture(self) -> Capture:
        """The captured modules and the link."""
        return read_executable(self.executable)

    @cached_property
    def text(self) -> ProgramText:
        """What follows from the program's text alone."""
        return program_text(self.capture, self.allocators)

    @property
    def program(self) -> Program:
        """The program model of all captured modules."""
        return self.text.program

    @cached_property
    def memory(self) -> list[Memory]:
        """Where the plain program keeps its variables, module by module."""
        return read_memory(self.capture)

    @cached_property
    def places(self) -> Places:
        """The statements of the program, and to which of them each instruction belongs."""
        return Places(self.program, self.folder)

    @cached_property
    def expressions(self) -> list[Expressions]:
        """For each module what tells its instructions in C."""
        return explain(self.program)

    @cached_property
    def fingerprint(self) -> int:
        """The program's fingerprint, as its traces bear it."""
        return self.program.fingerprint()

    @property
    def numbering(self) -> Numbering:
        """The layouts of the program's functions."""
        return self.text.numbering

    @cached_property
    def has_threads(self) -> bool:
        """Whether the program starts threads: then runs can be given a schedule."""
        return starts_threads(self.program)

    @property
    def plan(self) -> Plan:
        """The static plan that gives traces their meaning."""
        return self.text.plan

    @cached_property
    def replay_numbering(self) -> Numbering:
        """The layouts of the replay and suppress variants, which record loads of all locals: a change may have altered
        them.
        """
        return Numbering(self.program, has_private=False)

    @cached_property
    def replay_plan(self) -> Plan:
        """The plan of those variants' traces: segments and sites have the numbers that they have in ``plan``."""
        return make_plan(self.program, self.replay_numbering, numbers())

    def plan_of(self, kind: Variant) -> Plan:
        """The plan of the traces that a variant writes."""
        return self.replay_plan if kind in ALTERED else self.plan

    def numbering_of(self, kind: Variant) -> Numbering:
        """The layouts of a variant's functions."""
        return self.replay_numbering if kind in ALTERED else self.numbering

    def declarations_of(self, kind: Variant, members: bool = False) -> tuple[Declarations, Sources]:
        """Which variables a variant's traces are about, and where pointers to them come from.

        With ``members`` pointers into arrays inside of structures have a source of their own.
        """
        key = kind in ALTERED, members
        if key == (False, False):
            return self.text.declarations
        if key not in self._declarations:
            plan, numbering = self.plan_of(kind), self.numbering_of(kind)
            found = Declarations(self.program, plan, numbering, self.allocators, members)
            self._declarations[key] = found, found.tables()
        return self._declarations[key]

    @property
    def alter_plan(self) -> AlterPlan:
        """The sites at which a run can be altered."""
        return self.text.alter_plan

    def variant(self, kind: Variant) -> Path:
        """The executable of a variant, built when there is none for this program yet."""
        out = self._variant_path(kind)
        with _BUILDING:
            if not is_sealed(str(out)):
                out.parent.mkdir(parents=True, exist_ok=True)
                self.build(kind, out)
            if kind is Variant.RECORD:  # whose traces take all of the text: the next command need not make it
                keep(self.text, self.capture, self.allocators)
        return out

    def build(self, kind: Variant, out: Path) -> Path:
        """The executable of a variant, built as ``out``."""
        if kind is Variant.REORDER:
            return self.reordered(self.movable.order, out)
        return build_variant(self.capture, kind, list(self._texts(kind)), self._runtime, out, progress=self.progress)

    @cached_property
    def movable(self) -> Movable:
        """The variables that the reorder variant can lay out anew."""
        return Movable(self.program, self.memory)

    @cached_property
    def _movable_objects(self) -> list[Path]:
        names = [module.name for module in self.capture.modules]
        return [*compile_texts(list(self._texts(Variant.REORDER)), names), *self._runtime]

    def reordered(self, numbers: Sequence[int], out: Path) -> Path:
        """The reorder variant linked with its static variables in this order, as ``out``."""
        order = compile_texts([order_text(numbers, self.program.modules[0].triple)], ["the order of variables"])
        link(self.capture, Variant.REORDER, [*order, *self._movable_objects], out)
        return out

    def has_variant(self, kind: Variant) -> bool:
        """Whether a variant has been built before."""
        return is_sealed(str(self._variant_path(kind)))

    def _variant_path(self, kind: Variant) -> Path:
        return Path(whence_home()) / "variants" / self._key(kind) / self.executable.name

    def _key(self, kind: Variant) -> str:
        """What a variant's executable depends on: modules, link, runtime and probes."""
        digest = hashlib.sha256(f"{probes_version()} {kind} {self.capture.link}".encode())
        for module in self.capture.modules:
            digest.update(f"{module.hash} {module.arguments}".encode())  # a frame depends on the flags
        for item in self._runtime:
            digest.update(str(item).encode())
        return digest.hexdigest()[:32]

    def _texts(self, kind: Variant) -> Iterable[str]:
        memory = self.memory
        if kind is Variant.COVER:
            if not self.has_threads:
                return cover_texts(self.program, memory)
            return cover_texts(self.program, memory, self.numbering, self._wrapped())
        if kind is Variant.ALTER:
            return alter_texts(self.program, self.alter_plan, memory)
        if kind is Variant.REPLAY:
            return replay_texts(self.program, self.replay_numbering, self.alter_plan, self._wrapped(), memory)
        if kind in (Variant.SUPPRESS, Variant.REORDER):
            movable = self.movable if kind is Variant.REORDER else None
            return suppress_texts(self.program, self.replay_numbering, self._wrapped(), memory, movable)
        return record_texts(self.program, self.numbering, self._wrapped(), memory, compact=kind is Variant.COMPACT)

    def _wrapped(self) -> list[str]:
        return wrapped(musl="musl" in self.program.modules[0].triple)

    def derived(self, make: Callable[[Subject], T]) -> T:
        """What ``make`` gives of this subject, made once: what follows from the program's text, for who asks again."""
        if make not in self._derived:
            self._derived[make] = make(self)
        found: T = self._derived[make]
        return found

    @cached_property
    def has_main(self) -> bool:
        """Whether the module with ``main`` is captured."""
        return any(ref.name == "main" for ref in self.program.functions)

    @cached_property
    def _runtime(self) -> list[Path]:
        return runtime_objects(with_main=self.has_main)

    def runner(self, kind: Variant | None = None, executable: Path | None = None, *, confined: bool = False) -> Runner:
        """A runner of the plain program, or of a variant (linked as ``executable``); close it after use.

        What it runs is ``confined`` where nobody asked for it by itself: altered runs, inputs that were made.

        Cases with schedules run on the cover variant in the plain program's place, which takes none.
        """
        if kind is None and any(case.schedule is not None for case in self.cases):
            kind = Variant.COVER
        executable = executable or (self.executable if kind is None else self.variant(kind))
        return Runner(executable, self.limits, name=self.name, coverage=kind is Variant.COVER, confined=confined)


def subject_from_config(config: SubjectConfig) -> Subject:
    """The subject that a ``whence.toml`` describes: built if need be, its cases loaded, missing expectations learned.

    Raises what ``built_from_config`` and ``learned`` raise.
    """
    return learned(built_from_config(config))


def built_from_config(config: SubjectConfig) -> Subject:
    """The subject that a ``whence.toml`` describes, built if need be; expectations may be missing (``learned``).

    Raises BuildError with the compiler's message first, UsageError or SubjectError for cases that cannot be used.
    """
    if config.toolchain:
        os.environ["WHENCE_CLANG"] = config.toolchain
    built = built_program(config)
    named = built.program
    executable = real_executable(named)
    cases = load_cases(config)
    if config.program.sources:
        cases = [_with_program(case, executable.name) for case in cases]
    elif executable != named and named.is_relative_to(config.folder):
        cases = [_with_program(case, str(executable.relative_to(config.folder))) for case in cases]
    subject = Subject(config.folder, executable, cases, config.limits, config.program.name or f"./{named.name}")
    if built.capture is not None:
        subject.capture = built.capture
    subject.cases = with_libraries(subject, config, cases)
    subject.reference, subject.allocators = config.cases.reference, config.allocators
    subject.remarks += [built.told] if built.told else []
    return subject


def _with_program(case: Case, name: str) -> Case:
    """The case; where it is a command, the program that was compiled stands in its folder under this name."""
    return case if case.suite is None else replace(case, suite=replace(case.suite, program=name))


def with_libraries(subject: Subject, config: SubjectConfig, cases: Sequence[Case]) -> list[Case]:
    """The cases; a program that a script of libtool's starts finds the shared libraries of its build in them.

    The script, which is left out, would tell the loader where they are. A command starts it by itself.
    """
    if config.program.path in (None, subject.executable):
        return list(cases)
    capture = subject.capture
    folders = [str(Path(capture.link.directory, name).parent) for name in capture.libraries]
    path = {"LD_LIBRARY_PATH": os.pathsep.join(dict.fromkeys(folders))} if folders else {}
    return [replace(case, environment={**path, **case.environment}) if case.command is None else case for case in cases]


def learned(subject: Subject) -> Subject:
    """The subject with missing expectations of its cases taken from its reference, where it has none from itself.

    Cases in which a reference crashes or does not end are left out, which a remark says. Raises SubjectError where a
    run of the subject itself that is right by definition does, or where no case is left.
    """
    if all(case.expected is not None for case in subject.cases):
        return subject
    reference = subject.reference or subject.executable
    check_reference(reference)
    with Runner(reference, subject.limits, name=subject.name) as runner:
        if subject.reference is None:
            return with_cases(subject, learn_expected(subject.cases, runner))
        cases, told = learn_from_reference(subject.cases, runner)
    found = with_cases(subject, cases)
    found.remarks = [*subject.remarks, *told]
    return found


def check_reference(reference: Path) -> None:
    """Raise SubjectError where there is no program that is to tell what is right."""
    if not reference.exists():
        raise SubjectError(f"no reference program {reference}", "build it, or give expected outputs instead")


def subject_from_sources(sources: Sequence[Path], flags: Sequence[str], cases: list[Case], limits: Limits) -> Subject:
    """The subject of loose C files and of cases given on the command line; passing cases tell what is right."""
    subject = built_from_sources(sources, flags, limits)
    return with_cases(subject, settle(subject, cases))


def built_from_sources(sources: Sequence[Path], flags: Sequence[str], limits: Limits) -> Subject:
    """The subject of loose C files, without cases. Raises BuildError with the compiler's message first."""
    sources = [s.resolve() for s in sources]
    executable = build_sources(sources, flags, quick_folder(sources))
    return Subject(sources[0].parent, executable, [], limits)


def settle(subject: Subject, cases: list[Case]) -> list[Case]:
    """Cases of the command line, with what only a run of the program tells filled in.

    What a passing case prints is right. An expected text without a final newline, as one types it, gets one where the
    program's output has one: that it is missing is not what the case is about. A run that prints nothing, or does not
    soon come to its end, does not tell that; then a passing case does, and where there is none, it gets one.
    """
    if all(case.expected is not None and not _is_open(case) for case in cases):
        return cases
    with subject.runner() as runner:
        passing = [case for case in cases if case.expected is None]
        runner.limits = replace(subject.limits, time=min(subject.limits.time or SOON, SOON))
        closed = [_closed(case, passing, runner) if _is_open(case) else case for case in cases]
        runner.limits = subject.limits
        return learn_expected(closed, runner)


def _is_open(case: Case) -> bool:
    """Whether the expected output ends within a line."""
    text = (case.expected.stdout if case.expected is not None else None) or b"\n"
    return not text.endswith(b"\n")


def _closed(case: Case, passing: Sequence[Case], runner: Runner) -> Case:
    """The case with a final newline expected, if the program prints one."""
    if case.expected is None or case.expected.stdout is None:
        return case
    told = (_ends_a_line(one, runner) for one in (case, *passing))
    if not next((is_line for is_line in told if is_line is not None), True):
        return case
    return replace(case, expected=replace(case.expected, stdout=case.expected.stdout + b"\n"))


def _ends_a_line(case: Case, runner: Runner) -> bool | None:
    """Whether what the program prints ends with a line; None where its run does not tell that."""
    try:
        result = runner.run_case(case)
    except RunLost:
        return None
    is_whole = not result.signal and not result.timed_out
    return result.stdout.endswith(b"\n") if is_whole and result.stdout else None


def with_cases(subject: Subject, cases: list[Case]) -> Subject:
    """The same program with other cases; what is known of the program stays known."""
    found = copy(subject)
    found.cases = cases
    return found


def of_capture(subject: Subject, capture: Capture) -> Subject:
    """The same cases for another capture of the program: one of its modules has another source."""
    found = replace(subject)
    found.capture = capture
    return found


def following(subject: Subject) -> Subject:
    """The subject with cases of which not the program's first process counts, but those that it forks."""
    return with_cases(subject, [following_children(case, subject.executable.name) for case in subject.cases])


def under_schedule(subject: Subject, path: Path) -> Subject:
    """The subject with the schedule of a file: its case has it, and stands there by the default schedule as well, as
    all others do.

    Raises UsageError where the file is none, SubjectError where it is one of another build or of no case.
    """
    found = read_schedule(path)
    if not subject.has_threads:
        raise SubjectError(f"{subject.name} starts no threads: it has one schedule only", "leave --schedule out")
    if found.fingerprint != subject.fingerprint:
        hint = "search for one of this build: whence schedules"
        raise SubjectError(f"{path} is a schedule of another build of {subject.name}", hint)
    cases: list[Case] = []
    for case in subject.cases:
        default = replace(case, schedule=DEFAULT)
        if case.name == found.case:
            cases.append(replace(case, schedule=found.schedule))
            default = replace(default, name=f"{case.name} {BY_DEFAULT}")
        cases.append(default)
    if len(cases) == len(subject.cases):
        names = ", ".join(case.name for case in subject.cases[:8])
        raise SubjectError(f"{path} is a schedule of the case '{found.case}', which there is not", f"cases: {names}")
    return with_cases(subject, cases)
