"""Variables that lie behind all those of the program, whose own keep the neighbours that they have without probes.

The sections bear names that linkers put at the end; the runtime's variables lie there as well
(runtime/base/sections.h).
"""

from __future__ import annotations

import re
from collections.abc import Container

BEHIND = "#999999"  # the group of attributes of such a variable
BEHIND_GROUP = f'attributes {BEHIND} = {{ "bss-section"=".lbss.whence" "data-section"=".ldata.whence" }}'

_VARIABLE = re.compile(r'@("[^"]*"|[-\w$.]+) = (?!external )[^"]*?\bglobal ')
_ATTACHED = re.compile(r"(?:, ![\w.]+ !\d+)*$")


def placed(line: str, variables: Container[str] | None) -> str:
    """A module's line outside of functions; a variable that is none of ``variables`` goes behind all others.

    Those are what optimisation has left of the module's in the plain program (None: all).
    """
    if variables is None or not line.startswith("@"):
        return line
    found = _VARIABLE.match(line)
    if found is None or found[1].strip('"') in variables or ", section " in line or " thread_local" in line:
        return line
    return _ATTACHED.sub(lambda end: f" {BEHIND}{end[0]}", line, count=1)
