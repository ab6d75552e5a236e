"""What is pinned in runs, the environment and the addresses, and how a failure that needs others is made to show."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_programs import line_of
from cli_tool import subject_folder, whence, write

NAMED = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    const char *ship = getenv("SHIP");
    int length = ship ? (int)strlen(ship) - 1 : 4;
    printf("%d\\n", length);
    return 0;
}
"""
BY_ADDRESS = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    char *name = malloc(16);
    int place = 7;
    if ((uintptr_t)name >> 12 & 1) /* decides */
        place = 8;
    printf("%d\\n", place);
    return name == NULL;
}
"""
ASLR = Path("/proc/sys/kernel/randomize_va_space")
needs_aslr = pytest.mark.skipif(not ASLR.exists() or ASLR.read_text().strip() == "0", reason="addresses are not random")


@pytest.fixture
def ship(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"SHIP": "alta", "HOME": "/nowhere", "LD_LIBRARY_PATH": "/nowhere"}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("ship")
def test_where_nothing_fails_it_is_said_what_is_pinned() -> None:
    folder = subject_folder("pinned", named_c=NAMED)
    done = whence(folder, "locate", "named.c", "--fails", "", "--expect", "4")
    assert done.status == 2 and "--environment keep and --aslr" in done.err


@pytest.mark.usefixtures("ship")
def test_a_failure_that_needs_the_own_environment_shows_with_it() -> None:
    folder = subject_folder("pinned-kept", named_c=NAMED)
    words = ["named.c", "--fails", "", "--expect", "4", "--environment", "keep", "--budget", "20s"]
    done = whence(folder, "locate", *words)
    assert "printed     1 | 3" in done.out
    assert "--environment keep" in done.out.partition("next:")[2]


@pytest.mark.usefixtures("ship")
def test_the_configuration_may_keep_it() -> None:
    folder = subject_folder("pinned-configured", named_c=NAMED)
    write(folder / "cases" / "a.expected", "4\n")
    cases = '[cases]\nfolder = "cases"\nenvironment = "keep"\n'
    write(folder / "whence.toml", f'[program]\nsources = ["named.c"]\n{cases}')
    done = whence(folder, "slice", "--json")
    assert done.json["symptom"]["line"] == line_of(NAMED, "printf")
    write(folder / "whence.toml", f'[program]\nsources = ["named.c"]\n{cases.replace("keep", "drop")}')
    wrong = whence(folder, "slice")
    assert (wrong.status, 'or "keep"' in wrong.err) == (2, True)


@needs_aslr
def test_a_failure_that_needs_other_addresses_shows_with_them() -> None:
    """Its recorded run fails as the program's did; altered runs would have other addresses each."""
    folder = subject_folder("pinned-addresses", placed_c=BY_ADDRESS)
    for right, decides in (("7", "place = 8"), ("8", "place = 7")):
        found = whence(folder, "slice", "placed.c", "--fails", "", "--expect", right, "--aslr", "--json")
        assert found.status in (0, 1), found.err
        assert found.json["symptom"]["line"] == line_of(BY_ADDRESS, "printf")
        assert line_of(BY_ADDRESS, decides) in {entry["line"] for entry in found.json["ranking"]}
    words = ["placed.c", "--fails", "", "--expect", "7", "--aslr", "--budget", "20s"]
    done = whence(folder, "locate", *words)
    assert "its addresses differ from run to run" in done.out and "printed     1 | 8" in done.out


@needs_aslr
def test_with_other_addresses_nothing_is_said_of_changed_runs() -> None:
    """They might pass by their addresses alone."""
    folder = subject_folder("pinned-changed", placed_c=BY_ADDRESS)
    words = ["placed.c", "--fails", "", "--expect", "7", "--passes", "x", "--aslr"]
    suppressed, fixed = (whence(folder, command, *words) for command in ("suppress", "fix"))
    assert (suppressed.status, "addresses differ from run to run" in suppressed.err) == (2, True)
    assert "all cases pass" not in fixed.out.replace("with none of those tried all cases pass", "")
    assert "addresses differ from run to run" in fixed.out + fixed.err and "(0 runs;" in fixed.out
