"""Sample findings for the reports' tests: a ferry that refuses a vehicle which fits exactly.

``most`` starts at 0 in ``choose`` (deck.c), so a lane that would be filled to the last decimetre is never
better than none. In the failing case a bus of 120 meets two empty lanes of 120.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whence.findings import Findings, Statement, Symptom, rank

HERE = Path(__file__).parent
FILES = ("deck.c", "ferry.c")
PASSED, FAILED = 208, 4


def sources() -> dict[str, str]:
    """Text of the sample's source files by the names that its findings use."""
    return {f"src/{name}": (HERE / name).read_text() for name in FILES}


def at(file: str, text: str) -> Statement:
    """The first line of the file that contains the text."""
    lines = (HERE / file).read_text().splitlines()
    return Statement(f"src/{file}", next(n for n, line in enumerate(lines, 1) if text in line))


# How many (failing, passing) cases executed each line, and what is known of it.
EXECUTED: list[tuple[str, str, int, int, str]] = [
    ("deck.c", "return -1;", 4, 31, "the vehicle was refused here, since `lane` is -1"),
    ("ferry.c", "ashore++;", 4, 31, "`ashore` went from 0 to 1, which the last line of output shows"),
    ("ferry.c", "stays ashore", 4, 31, "wrote the first wrong byte of the output"),
    ("deck.c", "if (rest > most)", 4, 196, "compared `rest` = 0 with `most` = 0 and skipped both lanes"),
    ("deck.c", "int most = 0;", 4, 196, "gave `most` the value 0, which no lane with `rest` = 0 exceeds"),
    ("deck.c", "int best = -1;", 4, 196, "gave `best` the value -1, which became the result"),
    ("deck.c", "int rest =", 4, 196, "gave `rest` the value 0, used by the test on line 28"),
    ("deck.c", "? length + GAP", 4, 196, "returned 120, the length of the bus"),
    ("deck.c", "return best;", 4, 196, "returned -1"),
    ("deck.c", "int lane = choose", 4, 196, "gave `lane` the value -1"),
    ("deck.c", "if (lane < 0)", 4, 196, ""),
    ("ferry.c", "int lane = deck_place", 4, 196, ""),
    ("ferry.c", "int length = length_of", 4, 196, ""),
    ("ferry.c", "if (strcmp", 4, 199, ""),
    ("ferry.c", "return kinds[i].length", 4, 197, ""),
    ("ferry.c", "while (scanf", 4, 205, ""),
    ("ferry.c", "deck_open(&deck", 4, 205, ""),
    ("deck.c", "deck->capacity = capacity", 4, 205, ""),
    ("deck.c", "deck->used[i] = 0", 4, 205, ""),
    ("ferry.c", "dm free", 4, 205, ""),
    ("deck.c", "total += deck->capacity", 4, 205, ""),
    ("ferry.c", "if (scanf", 4, 208, ""),
    ("deck.c", "most = rest;", 1, 187, ""),
    ("deck.c", "best = i;", 1, 187, ""),
    ("ferry.c", "lane %d", 1, 187, ""),
    ("deck.c", "deck->used[lane] +=", 1, 187, ""),
    ("deck.c", "deck->count[lane]++", 1, 187, ""),
]


def _ranking() -> Findings:
    scores, evidence = {}, {}
    for file, text, failing, passing, note in EXECUTED:
        statement = at(file, text)
        counts = f"executed by {failing} of {FAILED} failing and {passing} of {PASSED} passing cases"
        scores[statement] = failing / (FAILED * (failing + passing)) ** 0.5
        evidence[statement] = {
            "text": f"{note}; {counts}" if note else counts,
            "failing": failing,
            "failing_total": FAILED,
            "passing": passing,
            "passing_total": PASSED,
        }
    return Findings("locate", "ferry", ranking=rank(scores, evidence))


def _slice_line(
    statement: Statement, depth: int, values: list[tuple[int, str, Any, str]], edges: list[tuple[Any, ...]]
) -> dict[str, Any]:
    return {
        "file": statement.file,
        "line": statement.line,
        "depth": depth,
        "instances": max((1, *(sum(v[1] == w[1] for w in values) for v in values))),
        "values": [dict(zip(("clock", "name", "value", "role"), v, strict=True)) for v in values],
        "edges": [
            {"to_file": to.file, "to_line": to.line, "kind": kind, "name": name, "value": value}
            for to, kind, name, value in edges
        ],
    }


def _slice() -> list[dict[str, Any]]:
    ashore, lane = at("ferry.c", "stays ashore"), at("ferry.c", "int lane = deck_place")
    test, refused = at("ferry.c", "        if (lane < 0)"), at("deck.c", "return -1;")
    guard, chosen = at("deck.c", "if (lane < 0)"), at("deck.c", "int lane = choose")
    result, start = at("deck.c", "return best;"), at("deck.c", "int best = -1;")
    most = at("deck.c", "int most = 0;")
    better, rest = at("deck.c", "if (rest > most)"), at("deck.c", "int rest =")
    need, used = at("deck.c", "? length + GAP"), at("deck.c", "deck->used[i] = 0")
    capacity, length = at("deck.c", "deck->capacity = capacity"), at("ferry.c", "int length = length_of")
    found, name = at("ferry.c", "return kinds[i].length"), at("ferry.c", "while (scanf")
    head, size = at("ferry.c", "if (scanf"), [(25, "kinds[3].length", 120, "returned")]
    return [
        _slice_line(ashore, 0, [(58, "name", '"bus"', "read")], [(test, "control", "lane < 0", True)]),
        _slice_line(test, 1, [(57, "lane", -1, "read")], [(lane, "data", "lane", -1)]),
        _slice_line(lane, 2, [(56, "lane", -1, "written")], [(refused, "call", "deck_place()", -1)]),
        _slice_line(refused, 3, [(54, "result", -1, "returned")], [(guard, "control", "lane < 0", True)]),
        _slice_line(guard, 4, [(53, "lane", -1, "read")], [(chosen, "data", "lane", -1)]),
        _slice_line(chosen, 5, [(52, "lane", -1, "written")], [(result, "call", "choose()", -1)]),
        _slice_line(result, 6, [(51, "best", -1, "read")], [(start, "data", "best", -1)]),
        _slice_line(start, 7, [(29, "best", -1, "written")], [(better, "control", "rest > most", False)]),
        _slice_line(
            better,
            8,
            [(clock, name, 0, "read") for clock in (38, 47) for name in ("rest", "most")],
            [(rest, "data", "rest", 0), (most, "data", "most", 0)],
        ),
        _slice_line(most, 9, [(29, "most", 0, "written")], []),
        _slice_line(
            rest,
            9,
            [(37, "rest", 0, "written"), (37, "deck->capacity", 120, "read"), (46, "rest", 0, "written")],
            [
                (need, "call", "needed()", 120),
                (capacity, "data", "deck->capacity", 120),
                (used, "data", "deck->used[0]", 0),
            ],
        ),
        _slice_line(need, 10, [(35, "length", 120, "read")], [(length, "data", "length", 120)]),
        _slice_line(used, 10, [(9, "deck->used[0]", 0, "written")], []),
        _slice_line(capacity, 10, [(6, "deck->capacity", 120, "written")], [(head, "library", "scanf: capacity", 120)]),
        _slice_line(length, 11, [(26, "length", 120, "written")], [(found, "call", "length_of()", 120)]),
        _slice_line(found, 12, size, [(name, "library", "name", '"bus"')]),
        _slice_line(name, 13, [(12, "name", '"bus"', "written")], []),
        _slice_line(head, 13, [(2, "lanes", 2, "written"), (2, "capacity", 120, "written")], []),
    ]


def _values() -> dict[str, Any]:
    def key(statement: Statement) -> str:
        return f"{statement.file}:{statement.line}"

    return {
        key(at("deck.c", "int most = 0;")): {
            "failing": [{"name": "most", "value": 0, "clock": 29}],
            "passing": [{"name": "most", "values": [0], "cases": 196}],
        },
        key(at("deck.c", "if (rest > most)")): {
            "failing": [
                {"name": "rest", "value": 0, "clock": 38},
                {"name": "most", "value": 0, "clock": 38},
                {"name": "rest", "value": 0, "clock": 47},
                {"name": "most", "value": 0, "clock": 47},
            ],
            "passing": [
                {"name": "rest", "values": [355, 310, 75, 30, -15, -40], "cases": 196},
                {"name": "most", "values": [0, 75, 355], "cases": 196},
            ],
        },
        key(at("ferry.c", "int lane = deck_place")): {
            "failing": [{"name": "lane", "value": -1, "clock": 56}],
            "passing": [{"name": "lane", "values": [0, 1, 2, 3, -1], "cases": 196}],
        },
    }


def _formulas(findings: Findings) -> list[dict[str, Any]]:
    return [
        {
            "file": e.statement.file,
            "line": e.statement.line,
            "formulas": {
                name: {"score": e.score, "best": e.rank, "average": e.rank_average, "worst": e.rank_worst}
                for name in ("ochiai", "op2")
            },
        }
        for e in findings.ranking
    ]


def sample() -> Findings:
    """What ``whence locate`` would say about the ferry."""
    findings = _ranking()
    findings.summary = [
        f"captured 2 modules, ran {PASSED + FAILED} cases ({PASSED} passed, {FAILED} failed)",
        "recorded the failing case bus-fills-lane: 61 blocks, 214 events",
    ]
    findings.symptom = Symptom(
        "wrong-output",
        'line 1 of the output is "bus   stays ashore", expected "bus   lane 1"',
        at("ferry.c", "stays ashore"),
        clock=58,
        event=201,
        details={
            "column": 13,
            "length": 32,
            "label": "wrote byte 6, the first wrong one",
            "stderr": {"first": ["ferry: lane 1 is full"], "left_out": 7, "last": ["ferry: \x1b[31mlate\x1b[0m"]},
            "stack": {
                "first": [{"function": "main", "file": "src/ferry.c", "line": 44}],
                "left_out": 0,
                "last": [{"function": "begin", "file": None, "line": None}],
            },
            "process": "ferry (the second of 2 that ran)",
        },
    )
    findings.parts = {
        "cases": {
            "passed": PASSED,
            "failed": FAILED,
            "names_failed": ["bus-fills-lane", "lorry-fills-lane", "two-cars-and-gap", "last-bike"],
        },
        "criterion": {
            "file": findings.symptom.statement.file,  # type: ignore[union-attr]
            "line": findings.symptom.statement.line,  # type: ignore[union-attr]
            "direction": "backward",
            "text": "the first wrong byte of the output",
        },
        "slice": _slice(),
        "values": _values(),
        "formulas": _formulas(findings),
        "next": [
            {"command": "whence slice ferry", "why": "every step from the symptom back to its origins"},
            {"command": "whence slice ferry src/deck.c:28:rest", "why": "where `rest` came from"},
            {"command": "whence spectrum ferry --formula op2", "why": "the ranking by another formula"},
        ],
    }
    return findings
