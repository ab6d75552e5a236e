"""What the analysis of one long run of a real program takes: seconds by the clock, of a processor, and memory.

    python -m bench.real.long_runs --work FOLDER [--rounds 380] [--budget 60s] [--commands slice] [--trace-limit 6G]

The interpreter of Lua, with the planted fault ``lua-03``, runs a script of so many rounds (80,000 events each, about)
that uses most of its library, and fails in its last line; the same script without that line passes. Each command is
called once before, with one round, so that variants and kernels are there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bench.common import markdown, options, work_folder
from bench.real.faults import Case, chosen_faults, planted
from bench.real.locate import write_subject
from bench.real.programs import ensure_built

COMMANDS = ("record", "slice", "causes", "invariants")
SCRIPT = """\
local Account = {}
Account.__index = Account
function Account.new(n) return setmetatable({balance = n, log = {}}, Account) end
function Account:pay(n) self.balance = self.balance - n; self.log[#self.log + 1] = string.format("%05d:%g", n, n / 3)
end
Account.__add = function(a, b) return Account.new(a.balance + b.balance) end
Account.__tostring = function(a) return "A(" .. a.balance .. ")" end
local sum = 0
local function counted(k) return coroutine.wrap(function() for i = 1, k do coroutine.yield(i * k) end end) end
for r = 1, ROUNDS do
  local a, b = Account.new(r * 7), Account.new(100)
  a:pay(r % 13); b:pay(r // 3)
  sum = sum + #tostring(a + b)
  local t = {}
  for v in counted(5) do t[#t + 1] = v end
  table.sort(t, function(x, y) return (x * 7919) % 101 < (y * 7919) % 101 end)
  local s = table.concat(t, ",")
  for w in s:gmatch("%d+") do sum = sum + tonumber(w) end
  s = s:gsub("(%d)(%d)", "%2%1"):upper():rep(2)
  local ok, why = pcall(function() if r % 17 == 0 then error("bad " .. r) end; return r end)
  if not ok then sum = sum + #why end
  local x, y = string.unpack("<i4d", string.pack("<i4d", r, r / 7))
  sum = (sum + x + math.floor(y)) % 1000003
  for k, v in pairs({a = 1, b = r, [r] = 2}) do sum = sum + v end
end
print(sum)
"""
FAILS = "print(utf8.char(200 + sum % 50))\n"


class Row(NamedTuple):
    """A command's figures; ``told``: the line of its summary that says what was found."""

    command: str
    seconds: float
    processor: float
    memory: float  # MiB, of the largest process
    told: str


def case(rounds: int, last: str) -> Case:
    """The script of so many rounds, on standard input."""
    return Case(("-",), (SCRIPT.replace("ROUNDS", str(rounds)) + last).encode(), {})


def called(command: str, tree: Path, budget: str, name: str, *more: str) -> Row:
    """Call a command for the case of that name."""
    words = [
        str(Path(sys.executable).with_name("whence")),
        command,
        "--case",
        name,
        "--budget",
        budget,
        "--json",
        *more,
    ]
    began = time.monotonic()
    with subprocess.Popen(words, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    return Row(command, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, told(command, json.loads(text)))


def told(command: str, found: dict[str, Any]) -> str:
    """What a command found, in a few words."""
    if command == "record":
        return f"{found['events']:,} events"
    if command == "slice":
        sliced = next((line.split(":")[0] for line in found["summary"] if line.startswith("sliced")), "nothing sliced")
        return f"{len(found.get('slice', [])):,} lines; {sliced}"
    if command == "causes":
        return f"{len(found['tree']['nodes']):,} causes" if "tree" in found else "no tree"
    return f"{found['candidates']['invariants']:,} invariants" if "candidates" in found else "none"


def main() -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=380)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--commands", default=",".join(COMMANDS))
    parser.add_argument("--trace-limit", default=None)
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    (fault,) = chosen_faults(["lua-03"])
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc")
    plain = ensure_built(fault.recipe, work, "gcc", "gcc") / fault.executable
    with planted(fault, tree):
        failing = (case(arguments.rounds, FAILS), case(1, FAILS))
        passing = tuple(case(rounds, "") for rounds in (1, 2, arguments.rounds))
        write_subject(replace(fault, failing=failing[0], also_failing=failing[1:], passing=passing), tree, plain)
        commands = arguments.commands.split(",")
        for command in commands:
            called(command, tree, "30s", "fail1")
        more = ("--trace-limit", arguments.trace_limit) if arguments.trace_limit else ()
        rows = [called(command, tree, arguments.budget, "fail", *more) for command in commands]
    header = ("command", "seconds", "of a processor", "MiB", "found")
    print(markdown(header, [_shown(row) for row in rows]))


def _shown(row: Row) -> tuple[str, ...]:
    return row.command, f"{row.seconds:.1f}", f"{row.processor:.1f}", f"{row.memory:,.0f}", row.told


if __name__ == "__main__":
    main()
