"""SQLite's shell from captured IR to a record variant, step by step; then a script recorded, decoded and sliced.

    python -m bench.sqlite [--work FOLDER]

The amalgamation is the largest single module that is likely to be met. The build that captures it is not measured.
Nothing is taken from Whence's caches, but the kernels have been compiled before.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from bench.common import Times, markdown, options, timed, work_folder
from bench.real.programs import ensure_built, load_recipes
from whence.build.variant import compile_texts, link, runtime_objects
from whence.probe.instrument import Variant, record_texts
from whence.probe.library import wrapped
from whence.run.cases import Case
from whence.run.runner import Runner, TraceRequest
from whence.subject.subject import Subject
from whence.trace.columns import N_OUT
from whence.trace.slicing import backward_slice
from whence.trace.trace import Trace

SCRIPT = b"""
create table item(id integer primary key, name text, price real);
create table sale(item integer references item(id), day integer, amount integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
  insert into item select i, 'item ' || i, i * 1.25 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
  insert into sale select 1 + i * 7 % 200, i % 30, 1 + i % 5 from n;
create index sale_day on sale(day);
select day, count(*), sum(amount) from sale group by day having sum(amount) > 200 order by 3 desc, 1 limit 5;
select name, round(sum(amount * price), 2) as total from sale join item on item.id = sale.item
  where day between 3 and 12 group by name order by total desc, name limit 5;
select count(*) from item where id not in (select item from sale where amount > 4);
"""
T = TypeVar("T")


class Stopwatch:
    """Runs steps and keeps what each took."""

    def __init__(self) -> None:
        self.steps: dict[str, Times] = {}

    def take(self, name: str, work: Callable[[], T]) -> T:
        """Run one step."""
        self.steps[name], result = timed(work)
        return result

    def table(self, title: str) -> str:
        """The steps with their share of the total."""
        total = Times(sum(t.wall for t in self.steps.values()), sum(t.cpu for t in self.steps.values()))
        steps = {**self.steps, "total": total}
        rows = [[n, f"{t.wall:.1f}", f"{t.cpu:.1f}", f"{t.cpu / total.cpu:.0%}"] for n, t in steps.items()]
        return markdown([title, "s by the clock", "s of the processor", "share"], rows)


def main() -> int:
    """Print two tables; fails when the variant's output is not the plain program's."""
    arguments = options(__doc__).parse_args()
    work = work_folder(arguments.work)
    tree = ensure_built(load_recipes()["sqlite"], work / "real", "whence", "whence-cc")
    subject = Subject(tree, tree / "sqlite3", [])
    capture = subject.capture
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as fresh:
        os.environ["WHENCE_HOME"] = fresh
        variant = Path(fresh) / "sqlite3"
        watch = Stopwatch()
        _make_variant(subject, watch, variant)
        print(watch.table(f"SQLite {tree.name.rsplit('-')[-1]} to a record variant ({len(capture.modules)} modules)"))
        print("\n" + _run_table(subject, variant), flush=True)
    return 0


def _make_variant(subject: Subject, watch: Stopwatch, out: Path) -> None:
    """What ``Subject.variant`` does, step by step."""
    capture = subject.capture
    program = watch.take("read the IR", lambda: subject.program)
    numbering = watch.take("lay out the segments", lambda: subject.numbering)
    names = wrapped(musl="musl" in program.modules[0].triple)
    texts = watch.take("rewrite", lambda: list(record_texts(program, numbering, names)))
    modules = [module.name for module in capture.modules]
    objects = watch.take("verify and compile", lambda: compile_texts(texts, modules))
    runtime = watch.take("compile the runtime", runtime_objects)
    watch.take("link", lambda: link(capture, Variant.RECORD, [*objects, *runtime], out))


def _run_table(subject: Subject, variant: Path) -> str:
    """Run the script on both programs, decode the trace and slice from the last output."""
    case = Case("script", (":memory:",), SCRIPT)
    watch = Stopwatch()
    with Runner(subject.executable) as runner:
        plain = watch.take("run the plain program", lambda: runner.run_case(case))
    with Runner(variant, name="./sqlite3") as runner:
        path = runner.sandbox.new_path("trace")
        request = TraceRequest(path, subject.limits.trace)
        recorded = watch.take("run the record variant", lambda: runner.run_case(case, request))
        if plain.observed != recorded.observed:
            raise RuntimeError(f"the variant printed {recorded.stdout!r} {recorded.stderr!r}, not {plain.stdout!r}")
        plan = watch.take("make the plan", lambda: subject.plan)
        _warm_up(Trace(path, subject.program, plan, subject.fingerprint))
        trace = watch.take("decode", lambda: Trace(path, subject.program, plan, subject.fingerprint))
    outs = trace.columns.outs[: trace.columns.counts[N_OUT]]
    criteria = np.array([outs[-1]["cell"]], np.int64)
    found = watch.take("slice from the last output", lambda: backward_slice(plan, trace.columns, criteria))
    title = f"a script of {len(SCRIPT.splitlines())} lines: {trace.events:,} events, {len(found.events):,} in the slice"
    return watch.table(title)


def _warm_up(trace: Trace) -> None:
    """Get every kernel compiled that is not in its cache."""
    backward_slice(trace.plan, trace.columns, np.array([trace.events], np.int64))


if __name__ == "__main__":
    sys.exit(main())
