"""Threads that wait at the end of a run: for what, and which thread would have to let them go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from whence.probe.library import names
from whence.trace.accesses import Accesses

TAKES = ("mutex_lock", "mutex_timedlock", "mutex_clocklock", "rwlock_rdlock", "rwlock_wrlock", "spin_lock", "mtx_lock")
TRIES = ("mutex_trylock", "rwlock_tryrdlock", "rwlock_trywrlock", "spin_trylock", "mtx_trylock")
GIVES = ("mutex_unlock", "rwlock_unlock", "spin_unlock", "mtx_unlock")
CONDITIONS = ("cond_wait", "cnd_wait", "cond_timedwait", "cnd_timedwait", "cond_clockwait")
SIGNALS = ("cond_signal", "cond_broadcast", "cnd_signal", "cnd_broadcast")
JOINS = ("pthread_join", "thrd_join")
OTHERS = ("sem_wait", "sem_timedwait", "barrier_wait")


@dataclass(slots=True)
class Wait:
    """A thread that waits in the call ``event`` of ``function``, for ``object``.

    ``holder``: the thread that has the lock, since its call ``taken`` (both -1: nobody, or no lock). ``signalled``:
    calls that signalled the condition before the thread waited for it, and so in vain.
    """

    thread: int
    event: int
    function: str
    object: int
    holder: int = -1
    taken: int = -1
    signalled: list[int] = field(default_factory=list)

    @property
    def is_condition(self) -> bool:
        """Whether it is a condition variable that is waited for."""
        return self.function.endswith(CONDITIONS)


class Waits:
    """What the threads of a run waited for when it ended."""

    def __init__(self, accesses: Accesses) -> None:
        self._accesses, self._trace = accesses, accesses.trace

    @cached_property
    def all(self) -> list[Wait]:
        """The waits, in the order of the threads' numbers."""
        held: dict[int, tuple[int, int]] = {}  # by object: the thread that has the lock, and its call
        signals: dict[int, list[int]] = {}
        waiting: dict[int, Wait] = {}
        for thread, event, function, argument in self._calls():
            if function.endswith((*TAKES, *TRIES)) and self._went_on(thread, event):
                held[argument] = thread, event
            elif function.endswith(GIVES):
                held.pop(argument, None)
            elif function.endswith(SIGNALS):
                signals.setdefault(argument, []).append(event)
            elif function.endswith(CONDITIONS):
                lock = self._accesses.argument(event, 1) or 0
                held.pop(lock, None)
                if self._went_on(thread, event):
                    held[lock] = thread, event
            if not self._went_on(thread, event) and function.endswith((*TAKES, *CONDITIONS, *JOINS, *OTHERS)):
                waiting[thread] = Wait(thread, event, function, argument)
        for wait in waiting.values():
            if wait.function.endswith(TAKES):
                wait.holder, wait.taken = held.get(wait.object, (-1, -1))
            if wait.is_condition:
                wait.signalled = [event for event in signals.get(wait.object, []) if event < wait.event]
        return [waiting[thread] for thread in sorted(waiting)]

    def _calls(self) -> Iterator[tuple[int, int, str, int]]:
        """Thread, event, function and first argument of each call by which threads are ordered."""
        known, plan = names(), self._trace.plan
        table = self._accesses.table
        for row in table[table["orders"]]:
            event = int(row["event"])
            number = int(plan.sites[self._trace.site(event)]["callee"])
            yield int(row["thread"]), event, known.get(-2 - number, ""), int(row["address"])

    def _went_on(self, thread: int, event: int) -> bool:
        """Whether a thread did anything behind a call."""
        segment = int(self._trace.columns.events[event]["segment"])
        return segment < self._last.get(thread, -1)

    @cached_property
    def _last(self) -> dict[int, int]:
        """The last segment of each thread."""
        return {int(thread): segment for segment, thread in enumerate(self._accesses.steps.thread)}

    @cached_property
    def circle(self) -> list[Wait]:
        """Waits of which each is for a lock that the next one's thread has, the last one for that of the first's."""
        by_thread = {wait.thread: wait for wait in self.all}
        for start in self.all:
            path = [start]
            while path[-1].holder in by_thread and len(path) <= len(by_thread):
                following = by_thread[path[-1].holder]
                if following in path:
                    return path[path.index(following) :]
                path.append(following)
        return []
