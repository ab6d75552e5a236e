"""Try edits of the source on recorded faults in which no rule is clean, as ``locate`` does, in a time of their own.

    python -m bench.ranking.edits FILE --to FILE [--generated FILE] [--seconds 12] [--seed S]

The first file is one of ``bench.ranking.record``, with the ``--generated`` faults that it was made from. Edits that
were recorded with a fault are left out, and tried anew; a run that was stopped goes on where it was. So ways to order
edits can be compared on the same rules, switches and values. At the end it is told what came of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.fixes import others_fixes  # noqa: E402
from bench.generated.faults import read_faults  # noqa: E402
from bench.ranking.evidence import Recorded, read  # noqa: E402
from bench.ranking.examples import without_edits  # noqa: E402
from bench.ranking.record import Fault  # noqa: E402
from bench.suites import opened  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.diagnosis.combined_ranking import AROUND, SOURCES, fuse  # noqa: E402
from whence.diagnosis.initial_values import with_other_values  # noqa: E402
from whence.diagnosis.learned_ranking import is_weighed, reranked, shipped  # noqa: E402
from whence.diagnosis.locate_steps import alternated  # noqa: E402
from whence.diagnosis.searches import FAILING  # noqa: E402
from whence.diagnosis.tried_edits import TriedEdits, has_clean, is_checked, known_fixes, tried_edits  # noqa: E402
from whence.errors import WhenceError  # noqa: E402
from whence.findings import Entry, Findings  # noqa: E402
from whence.program.token_changes import c_tokens  # noqa: E402
from whence.run.outcome import Kind  # noqa: E402


def order(fault: Recorded, found: list[Findings]) -> list[Entry]:
    """The statements in the order in which they are edited."""
    joined = fuse(fault.base, found, AROUND if fault.is_open else SOURCES)
    if is_weighed(fault.base, found, fault.is_open):
        joined = reranked(joined, fault.base, found, fault.kinds, shipped())
    return alternated(joined.ranking, fault.base.ranking)


def tried(fault: Fault, ranking: list[Entry], seed: int, seconds: float) -> tuple[TriedEdits, int]:
    """What edits did, and the number of passing cases."""
    with opened(fault, seed, float("inf")) as suite, others_fixes(fault.program) as knowledge:
        suite.prepare()
        suite.investigation.clock.start(10 * seconds)
        subject, runs = suite.investigation.subject, suite.investigation.runs
        rows = [r for r in suite.investigation.failing_rows() if runs.tested[r].outcome.kind is not Kind.MEMORY]
        end = time.monotonic() + seconds
        found = tried_edits(subject, runs, ranking, rows[:FAILING], end, known_fixes(subject.folder, (knowledge,)))
        return found, len(runs.passing)


def real(fault: Recorded, rule: Mapping[str, Any]) -> bool:
    """Whether an edit makes the program without the fault, token by token."""
    lines = fault.source.split("\n")
    lines[rule["line"] - 1] = lines[rule["line"] - 1].replace(rule["before"], rule["after"], 1)
    right = c_tokens(corpus.source_path(fault.program).read_bytes())
    return c_tokens("\n".join(lines).encode()) == right


def table(faults: Iterable[Recorded]) -> str:
    """Of the faults in which no rule is clean, how many have edits, where, and whether they are the real fix."""
    counts = Counter[str]()
    for fault in faults:
        rules = [rule for one in fault.found for rule in one.parts.get("rules", ())]
        edits = sorted(filter(is_checked, rules), key=lambda rule: rule["cost"])
        if has_clean(rule for rule in rules if rule not in edits):
            continue
        counts["no rule is clean"] += 1
        if edits:
            counts["an edit lets all cases pass"] += 1
            counts["... of a faulty line"] += any(edit["line"] in fault.lines for edit in edits)
            counts["... the real fix"] += any(real(fault, edit) for edit in edits)
            counts["the likeliest is of a faulty line"] += edits[0]["line"] in fault.lines
            counts["... the real fix, too"] += real(fault, edits[0])
    return markdown(["of the faults", "number"], [[name, str(count)] for name, count in counts.items()])


def main() -> None:
    """Try edits, and say of each fault how many, and at how many statements one was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", type=Path, help="recorded faults")
    parser.add_argument("--to", type=Path, required=True, help="file that they are written to, with edits")
    parser.add_argument("--generated", type=Path, help="the generated faults that were recorded (those of the corpus)")
    parser.add_argument("--seconds", type=float, default=12.0, help="for the edits of a fault")
    parser.add_argument("--seed", type=int, default=1, help="which cases make up the suites")
    options = parser.parse_args()
    known: dict[tuple[str, str], Fault] = {(f.program, f.id): f for p in corpus.programs() for f in corpus.faults(p)}
    if options.generated:
        known = {(fault.program, fault.id): fault for fault in read_faults(options.generated)}
    there = {one.key for one in read(options.to)}
    with options.to.open("a") as file:
        for one in (one for one in read(options.file) if one.key not in there):
            found = [without_edits(f) if f.technique == "rules" else f for f in one.found]
            told = "a rule is clean"
            if not any(has_clean(f.parts.get("rules", ())) for f in found):
                try:
                    made, passing = tried(
                        known[one.program, one.fault], order(one, found), options.seed, options.seconds
                    )
                except WhenceError as error:
                    print(f"{one.program} {one.fault}: {error}", flush=True)
                    continue
                found = with_other_values(found, made.rows, passing) if made.rows else found
                told = f"{made.tried} edits, {len({row['line'] for row in made.rows})} statements"
            one.found = found
            file.write(json.dumps(one.to_json(), separators=(",", ":")) + "\n")
            file.flush()
            print(f"{one.program} {one.fault}: {told}", flush=True)
    print(table(read(options.to)))


if __name__ == "__main__":
    main()
