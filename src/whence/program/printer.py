"""Prints a module as the text that LLVM reads; an unchanged module gives the very text it was read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from whence.program.model import Function, Module


def print_module(module: Module, rewrite: Callable[[Function], Function] | None = None) -> str:
    """The module's text, with each function passed through ``rewrite`` first where one is given."""
    lines: list[str] = []
    for chunk in module.chunks:
        if isinstance(chunk, Function):
            lines.extend(function_lines(rewrite(chunk) if rewrite else chunk))
        else:
            lines.append(chunk)
    return "\n".join(lines)


def function_lines(function: Function) -> Iterator[str]:
    """The lines of a function's definition."""
    yield function.header
    for number, block in enumerate(function.blocks):
        if number:
            yield ""
        if block.header:
            yield block.header
        yield from block.lines
    yield "}"
