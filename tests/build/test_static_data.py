"""Where functions lie, by an executable's symbols; initial values are tested where they are read from source text."""

from __future__ import annotations

import subprocess

import pytest
from trace_readers import subject_of

from whence.build.static_data import places_of_functions
from whence.errors import BuildError

TEXT = """\
#include <stdio.h>
int first(void) { return 1; }
static int second(void) { return 2; }
int main(void)
{
    printf("%ld %ld\\n", (long)((char *)second - (char *)first), (long)((char *)main - (char *)first));
    return 0;
}
"""


def test_functions_lie_as_far_apart_as_the_symbols_say():
    program = subject_of(TEXT).executable
    places = places_of_functions(program)
    wanted = [places[name] - places["first"] for name in ("second", "main")]
    assert [int(word) for word in subprocess.check_output(program).split()] == wanted


def test_what_is_no_executable_is_told(tmp_path):
    (tmp_path / "text").write_text("text")
    with pytest.raises(BuildError, match="its symbols cannot be read"):
        places_of_functions(tmp_path / "text")
