"""The soak: subjects come from seeds alone, the keeper and the judge see what is wrong, and six small ones pass."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.soak import keeper
from bench.soak.__main__ import Soak, apart, seeds_of, tell
from bench.soak.generate import FRAGMENTS, generate, kinds, program, seed_of
from bench.soak.judge import Ran, violations
from whence.build.quick import build_sources

CLEAN: dict[str, Any] = {"processes": [], "memory": [], "temporary": [], "shared_bytes": 0}
QUIET = {"status": 0, "seconds": 1.0, "processor": 0.1, "peak": 0, "ended": "", **CLEAN}
WILD = ("null_read", "flood", "demon", "group_killed", "thread_loops", "folder_closed")


# ---- Subjects --------------------------------------------------------------------------------------------------------


def test_seed_tells_all() -> None:
    """A seed's subject is the same in another process."""
    code = "from bench.soak.generate import generate; print([generate(seed) for seed in range(20)])"
    folder = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout == f"{[generate(seed) for seed in range(20)]}\n"


def test_seeds_are_apart() -> None:
    found = [generate(seed) for seed in range(200)]
    assert len({one.text for one in found}) == 200
    assert {one.fragments[-1] for one in found} == {name for name, kind in kinds().items() if kind != "calm"}
    assert all(one.failing for one in found)
    assert generate(seed_of("flood")).fragments[-1] == "flood"


def test_right_program_has_no_wild_fragment() -> None:
    for seed in range(0, 200, 9):
        one = generate(seed)
        assert f"{one.fragments[-1]}(n)" in one.text
        assert f"{one.fragments[-1]}(n)" not in one.right


def test_all_fragments_compile_together(tmp_path: Path) -> None:
    source = tmp_path / "all.c"
    names = tuple(kinds())
    assert len(names) == sum(path.read_text().count("////") for path in FRAGMENTS.glob("*.c"))
    source.write_text(program(names, [7] * len(names), "stdin", loop=True))
    assert build_sources([source], ["-w"], tmp_path / "out").is_file()


@pytest.mark.parametrize(("text", "seeds"), [("3", [3]), ("0-3", [0, 1, 2, 3]), ("1,5,7-8", [1, 5, 7, 8])])
def test_seeds_of(text: str, seeds: list[int]) -> None:
    assert seeds_of(text) == seeds


# ---- The keeper ------------------------------------------------------------------------------------------------------


def kept(tmp_path: Path, script: str, patience: float = 20.0) -> dict[str, Any]:
    """What the keeper says about a shell script."""
    (tmp_path / "tmp").mkdir()
    job = {
        "words": ["sh", "-c", script],
        "folder": str(tmp_path),
        "environment": {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path / "tmp")},
        "patience": patience,
        "stdout": str(tmp_path / "out"),
        "stderr": str(tmp_path / "err"),
        "answer": str(tmp_path / "answer.json"),
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    subprocess.run([*apart(), sys.executable, keeper.__file__, str(tmp_path / "job.json")], check=True, timeout=60)
    found: dict[str, Any] = json.loads((tmp_path / "answer.json").read_text())
    return found


def test_keeper_of_a_clean_command(tmp_path: Path) -> None:
    answer = kept(tmp_path, "echo done; exit 1")
    assert answer | {"seconds": 1.0, "processor": 0.1, "peak": 0} == QUIET | {"status": 1}
    assert (tmp_path / "out").read_text() == "done\n"


def test_keeper_sees_what_is_left(tmp_path: Path) -> None:
    mark = f"/dev/shm/soak-test-{os.getpid()}"
    answer = kept(tmp_path, f"echo x > $TMPDIR/rest; echo y > {mark}; (setsid sleep 77 &)")
    Path(mark).unlink(missing_ok=True)
    assert answer["temporary"] == [str(tmp_path / "tmp" / "rest")]
    assert mark in answer["memory"]
    assert [one.split()[-2:] for one in answer["processes"]] == [["sleep", "77"]]


def test_keeper_ends_what_hangs(tmp_path: Path) -> None:
    answer = kept(tmp_path, "sleep 60", patience=0.5)
    assert answer["ended"] == "too long" and answer["status"] == -15 and answer["seconds"] < 10


# ---- The judge -------------------------------------------------------------------------------------------------------

NOTHING = '{"ranking": []}'
REFUSED = "whence: no case fails\n  help: give one\n"


@pytest.mark.parametrize(
    ("kind", "answer", "out", "err"),
    [
        ("status", {"status": 3}, "x", ""),
        ("status", {"status": -11}, "x", ""),
        ("internal", {}, "x", "whence: internal error: KeyError: 3"),
        ("internal", {}, "rules: internal error, see FILE", ""),
        ("control character", {}, "one \x1b[31m", ""),
        ("process left", {"processes": ["12 S sleep"]}, "x", ""),
        ("file left", {"memory": ["/dev/shm/whence-0-000"]}, "x", ""),
        ("file left", {"temporary": ["/tmp/x"]}, "x", ""),
        ("memory left", {"shared_bytes": 4096}, "x", ""),
        ("memory", {"peak": 9 << 30}, "x", ""),
        ("budget", {"seconds": 5.4}, "x", ""),
        ("ended by the watchdog", {"ended": "too long", "status": -15}, "x", ""),
        ("complaint", {"status": 2}, "", "whence: one\nwhence: two\n  help: none\n"),
        ("complaint", {"status": 2}, "", "whence: no help\n"),
        ("complaint", {"status": 1}, "", "whence: one\n  help: more\nwhence: two\n  help: more\n"),
        ("empty", {"status": 1}, "", ""),
    ],
)
def test_violations(kind: str, answer: dict[str, Any], out: str, err: str) -> None:
    ran = Ran("locate", 3.0, 2.0, True, out, err, QUIET | answer)
    assert [one.partition(":")[0] for one in violations(ran)] == [kind]


@pytest.mark.parametrize(("kind", "out"), [("json", "{"), ("json", NOTHING)])
def test_ill_formed_json(kind: str, out: str) -> None:
    found = [one.partition(":")[0] for one in violations(Ran("locate", None, 2.0, False, out, "", QUIET))]
    assert found[:1] == [kind]


@pytest.mark.parametrize("status", [1, 2])
def test_nothing_wrong(status: int) -> None:
    """A complaint is a reason why nothing is shown."""
    assert not list(violations(Ran("locate", 3.0, 2.0, True, "", REFUSED, QUIET | {"status": status, "seconds": 5.2})))


# ---- The soak --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled() -> None:
    """Kernels are there: a process that compiles what is not yet goes on when a command has ended."""
    subprocess.run([Path(sys.executable).with_name("whence"), "doctor"], check=True, capture_output=True)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("wild", WILD)
def test_small_soak(wild: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One subject of each sort through three commands: everything but the budget holds."""
    monkeypatch.setattr(Soak, "_warm_up", lambda self: None)
    rows = list(Soak(tmp_path, "3s").run(seed_of(wild), ["record", "spectrum", "slice"]))
    assert len(rows) == 3
    assert not [line for row in rows for line in tell(row) if ": budget: " not in line]
