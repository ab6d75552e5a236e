"""The suite leaves the user's cache alone: its own lies below the clone, whatever the environment says.

Programs of tests name absolute paths in their debug information. So the cache's folder is named by the clone's place:
a clone that was moved or copied starts with an empty one, in which compiled kernels alone are laid: they are known by
the contents of all that they come from.
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from pytest import TestReport

from whence.trace.compiling import kernels_folder, lay_kernels

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

WHOLE = 2000  # tests from which on a session is one of the whole suite
ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".cache" / hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:8]

# Before any test module is imported: where kernels are kept is settled by an import.
os.environ.pop("WHENCE_HOME", None)
_installed = kernels_folder()
os.environ["WHENCE_HOME"] = str(HOME)
lay_kernels(_installed, kernels_folder())
for _name in ("WHENCE_CLANG", "WHENCE_DEBUG", "NUMBA_CACHE_DIR"):
    os.environ.pop(_name, None)
# Also for tests with a home of their own: zig builds its run-time library once, 20 s that belong to none of them.
for _name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
    os.environ[_name] = str(HOME / "zig")

# How long an example takes says more about what else the machine does than about the example.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """In a fresh clone two workers compile different kernels first, of what both will need: half a minute each."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if len(request.session.items) < WHOLE or worker not in ("gw0", "gw1"):
        return
    import whence
    from whence.subject.memory_check import Checker

    source = tmp_path_factory.mktemp("kernels") / "one.c"
    source.write_text("int main(int argc, char **argv)\n{\n    return argc > 1 && *argv[1];\n}\n")
    with whence.open_sources([source], fails=[("1", None)]) as project:
        if worker == "gw0":
            project.find(whence.Slicing())
        else:
            Checker(project.investigation.subject).compile()


def pytest_configure(config: pytest.Config) -> None:
    """Name what fails at once."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(FailuresAtOnce(config))


class FailuresAtOnce:
    """Names each test that fails when it does: a suite that is ended for its time has no summary that would."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: TestReport) -> None:
        """Write a line for a report of a failure."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and reporter is not None:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = crash.message.partition("\n")[0] if crash is not None else ""
            reporter.ensure_newline()
            reporter.write_line(f"FAILED {report.nodeid} ({report.duration:.0f} s): {reason}")


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Show how many seconds of the tests' own time each folder took, the longest first."""
    seconds: Counter[str] = Counter()
    for report in (one for some in terminalreporter.stats.values() for one in some if isinstance(one, TestReport)):
        seconds[Path(report.nodeid.partition("::")[0]).parent.name] += report.duration
    if shown := ", ".join(f"{folder} {total:.0f}" for folder, total in seconds.most_common() if total >= 1):
        terminalreporter.write_line(f"seconds by folder: {shown}")


@pytest.fixture
def ctrl_c_works() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also in the background of a script, where it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
