"""Renaming of symbols in IR text: the program's ``main``, and the library functions that have wrappers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

NAME_END = r"(?![-a-zA-Z$._0-9])"


class Renaming:
    """Renames symbols in lines of IR, leaving string constants alone."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)
        alternatives = "|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))
        self._pattern = re.compile(f"@({alternatives}){NAME_END}") if names else None

    def line(self, text: str) -> str:
        """The line with the symbols renamed."""
        if self._pattern is None or "@" not in text:
            return text
        if '"' not in text:
            return self._pattern.sub(self._replace, text)
        parts = text.split('"')  # odd parts stand between quotes; LLVM prints a quote inside a string as \22
        parts[::2] = [self._pattern.sub(self._replace, part) for part in parts[::2]]
        return '"'.join(parts)

    def _replace(self, match: re.Match[str]) -> str:
        return "@" + self._names[match.group(1)]


def program_renaming(defined: Iterable[str], wrapped: Iterable[str]) -> dict[str, str]:
    """New names for one program: its own ``main``, and each wrapped library function that it does not define itself."""
    own = set(defined)
    names = {name: f"__whence_lib_{name}" for name in wrapped if name not in own}
    if "main" in own:
        names["main"] = "__whence_main"
    return names
