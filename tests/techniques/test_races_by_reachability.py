"""The pass that finds races, held against reachability in the graph of what happened before what."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations, pairwise

import pytest
from trace_readers import record, subject_of

from whence.probe.layout import Kind
from whence.probe.synchronisation import Sync
from whence.techniques.races.check import Checked, Checker
from whence.trace.happens_before import START
from whence.trace.steps import Steps

HEAD = """\
#include <pthread.h>
static pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER, m1 = PTHREAD_MUTEX_INITIALIZER;
static volatile int v0, v1, v2, v3;
"""
MAIN = """\
int main(void)
{{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {{
        pthread_create(&t[i], NULL, i == 0 ? f0 : i == 1 ? f1 : f2, NULL);
        {between}
    }}
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    {last}
    return 0;
}}
"""


def program(seed: int) -> str:
    """Three threads that read and write four variables, some of it with a lock held."""
    chance = random.Random(seed)

    def access() -> str:
        variable = f"v{chance.randrange(4)}"
        return chance.choice([f"{variable} = {chance.randrange(9)};", f"(void){variable};"])

    def body() -> str:
        lines = []
        for _ in range(chance.randrange(2, 6)):
            if chance.random() < 0.6:
                lock, inside = f"m{chance.randrange(2)}", " ".join(access() for _ in range(chance.randrange(1, 3)))
                lines.append(f"pthread_mutex_lock(&{lock}); {inside} pthread_mutex_unlock(&{lock});")
            else:
                lines.append(access())
        return "\n    ".join(lines)

    functions = [f"static void *f{n}(void *x)\n{{\n    {body()}\n    return x;\n}}\n" for n in range(3)]
    return HEAD + "".join(functions) + MAIN.format(between=access(), last=access())


def racing_addresses(found: Checked) -> set[int]:
    """The addresses of accesses by two threads, one of which writes, with no way in the graph between them."""
    trace, steps = found.trace, Steps(found.trace)
    accesses, nodes = [], defaultdict(list)  # nodes: of each thread, (event, before or behind it, name)
    for event in range(trace.events):
        kind = trace.kind(event)
        if kind in (Kind.LOAD, Kind.STORE) and trace.address(event):
            thread = int(steps.thread[trace.columns.events[event]["segment"]])
            accesses.append((event, thread, kind is Kind.STORE, trace.address(event)))
            nodes[thread].append((event, 1, event))
    edges, given = defaultdict(set), defaultdict(list)
    for number, row in enumerate(found.log):
        name, thread, event = ("sync", number), int(row["thread"]), int(row["event"])
        takes = row["sync"] in (Sync.LOCK, START, Sync.JOIN)  # before its event; a lock is given back behind it
        nodes[thread].append((event, 0 if takes else 2, name))
        if row["sync"] == Sync.UNLOCK:
            given[int(row["object"])].append(name)
        elif row["sync"] == Sync.LOCK:
            for before in given[int(row["object"])]:
                edges[before].add(name)
        elif row["sync"] == START:
            edges[name].add(("first", int(row["other"])))
        else:
            edges[("last", int(row["other"]))].add(name)
    for thread, own in nodes.items():
        chain = [("first", thread), *(name for *_, name in sorted(own, key=lambda n: n[:2])), ("last", thread)]
        for one, other in pairwise(chain):
            edges[one].add(other)

    def reached(start: object) -> set[object]:
        seen, pending = set(), [start]
        while pending:
            for node in edges[pending.pop()] - seen:
                seen.add(node)
                pending.append(node)
        return seen

    behind = {event: reached(event) for event, *_ in accesses}
    return {
        address
        for (one, thread, writes, address), (other, also, writes_too, same) in combinations(accesses, 2)
        if address == same
        and thread != also
        and (writes or writes_too)
        and other not in behind[one]
        and one not in behind[other]
    }


@pytest.mark.parametrize("seed", range(8))
def test_races_are_the_accesses_between_which_there_is_no_way(seed: int) -> None:
    subject = subject_of(program(seed))
    found = Checker(subject).check(record(subject).trace)
    assert {race.address for race in found.races} == racing_addresses(found)
