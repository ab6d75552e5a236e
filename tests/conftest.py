"""The suite leaves the user's cache alone: its own lies below the clone, whatever the environment says.

Programs of tests name absolute paths in their debug information. So the cache's folder is named by the clone's place:
a clone that was moved or copied starts with an empty one.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from pytest import TestReport

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache" / hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:8]

# Before any test module is imported: where kernels are kept is settled by an import.
os.environ["WHENCE_HOME"] = str(HOME)
for _name in ("WHENCE_CLANG", "WHENCE_DEBUG", "NUMBA_CACHE_DIR"):
    os.environ.pop(_name, None)
# Also for tests with a home of their own: zig builds its run-time library once, 20 s that belong to none of them.
for _name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
    os.environ[_name] = str(HOME / "zig")

# How long an example takes says more about what else the machine does than about the example.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Show how many seconds of the tests' own time each folder took, the longest first."""
    seconds: Counter[str] = Counter()
    for report in (one for some in terminalreporter.stats.values() for one in some if isinstance(one, TestReport)):
        seconds[Path(report.nodeid.partition("::")[0]).parent.name] += report.duration
    if shown := ", ".join(f"{folder} {total:.0f}" for folder, total in seconds.most_common() if total >= 1):
        terminalreporter.write_line(f"seconds by folder: {shown}")
