"""The server of the Model Context Protocol: tools that ask, and the source with the ranking as resources.

A tool takes no command, no file to write and no environment: what is run is what ``whence.toml`` said when the server
started. One question is answered at a time, since each may build the program.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import CallToolResult, InputRequiredResult, Resource, ToolAnnotations
from pydantic import Field, ValidationError

from whence import __version__
from whence.cli.serving.folder import Folder
from whence.cli.serving.question import CASES, Question
from whence.cli.serving.search import ask
from whence.errors import UsageError, WhenceError
from whence.report.compact import LEAST, MOST, NOTE, compact_text
from whence.report.text import clip, rank_range, source_line, visible

BUDGET = 30.0  # seconds, where a tool's caller says nothing
ERROR = 600  # characters
SOURCE = "whence://source/"
INSTRUCTIONS = f"""Whence finds where a failure of a C program comes from. The program and its test cases are those of \
the folder's whence.toml. Begin with `cases`, then `locate`; `slice` and `causes` explain one place, `fix` proposes \
edits as diffs and changes no file. In results, {NOTE}."""

Case = Annotated[str | None, Field(description="Name of the failing case to explain [the one with the shortest run].")]
Budget = Annotated[float, Field(ge=1, description="Seconds of wall time; building the program does not count.")]
Tokens = Annotated[int | None, Field(ge=LEAST, le=MOST, description="Most tokens that the result may take.")]
At = Annotated[str | None, Field(description="FILE:LINE, FILE:LINE:variable or FILE:LINE:variable@OCCURRENCE.")]
Line = Annotated[str | None, Field(description="FILE:LINE of the statement to change [the most suspicious ones].")]
Lines = Annotated[Sequence[str], Field(description="Lines, as FILE:LINE, that are right: left out with their causes.")]
Names = Annotated[Sequence[str], Field(description="Functions that are right: their conditions are passed over.")]
Reference = Annotated[
    Literal["switch", "rule", "pair", "edit", "case"] | None,
    Field(description="The run to compare with: itself, patched in this way, the program edited, the nearest case."),
]
Asked = Context[Any, Any]  # the request that a tool answers


def make_server(folder: Folder, most: float, tokens: int) -> MCPServer[Any]:
    """The server for a folder. ``most`` seconds are what a call may ask for, ``tokens`` what it gets by default."""
    tools = Tools(folder, most, tokens)
    server = _Server(tools)
    about = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    for tool in (tools.cases, tools.locate, tools.slice, tools.values, tools.causes, tools.chain, tools.fix):
        server.add_tool(tool, annotations=about, structured_output=False)
    server.resource(f"{SOURCE}{{+path}}", name="source", mime_type="text/plain")(tools.source)
    return server


class Tools:
    """What can be asked, and the last ranking."""

    def __init__(self, folder: Folder, most: float, tokens: int) -> None:
        self._folder, self._most, self._tokens = folder, most, tokens
        self._turn = anyio.Lock()
        self._ranks: dict[str, dict[int, str]] = {}  # of the last `locate`, by file and line
        self._ranked: dict[str, str] = {}  # the texts of those files then

    # ---- Tools: the docstrings are what agents read ------------------------------------------------------------------

    async def cases(self, context: Asked, budget: Budget = BUDGET, tokens: Tokens = None) -> str:
        """The test cases of the program and their verdicts, failing ones first."""
        return await self._answer(context, Question(CASES, budget), tokens)

    async def locate(
        self, context: Asked, case: Case = None, budget: Budget = BUDGET, tokens: Tokens = None, alter: bool = True
    ) -> str:
        """Rank the statements most likely at fault, with reasons, values of failing and passing runs, changes of the
        source that make failing cases pass, and the chain of faulty values. alter=false is quicker and less sure.
        """
        result = await self._found(context, Question("Locate", budget, {"alter": alter}, case))
        self._remember(result["ranking"])
        return self._compact(result, tokens)

    async def slice(
        self,
        context: Asked,
        at: At = None,
        forward: bool = False,
        data_only: bool = False,
        passing: Annotated[str | None, Field(description="Slice the run of this case instead (needs `at`).")] = None,
        case: Case = None,
        budget: Budget = BUDGET,
        tokens: Tokens = None,
    ) -> str:
        """The lines that the failure, or a value at a line, came from, with the values of the failing run; with
        forward=true what came of it.
        """
        options = {"at": self._place(at), "forward": forward, "data_only": data_only, "passing": passing}
        return await self._answer(context, Question("Slicing", budget, options, case), tokens)

    async def values(self, context: Asked, case: Case = None, budget: Budget = BUDGET, tokens: Tokens = None) -> str:
        """Other values at single instances that make failing runs pass, and the statements ranked by them."""
        return await self._answer(context, Question("ValueReplacement", budget, {}, case), tokens)

    async def causes(
        self,
        context: Asked,
        fine: Lines = (),
        correct: Names = (),
        case: Case = None,
        budget: Budget = BUDGET,
        tokens: Tokens = None,
    ) -> str:
        """Why the failing run had to fail, as a tree of causes; call again with `fine` for lines found to be right."""
        options = {"fine": [self._place(line) for line in fine], "correct": list(correct)}
        return await self._answer(context, Question("CauseTree", budget, options, case), tokens)

    async def chain(
        self,
        context: Asked,
        reference: Reference = None,
        case: Case = None,
        budget: Budget = BUDGET,
        tokens: Tokens = None,
    ) -> str:
        """How the fault became the failure: the faulty values step by step, each needed for the next."""
        options = {"reference": reference}
        return await self._answer(context, Question("FailureInducingChain", budget, options, case), tokens)

    async def fix(
        self, context: Asked, at: Line = None, case: Case = None, budget: Budget = BUDGET, tokens: Tokens = None
    ) -> str:
        """Edits of the source with which all cases pass, as diffs; no file is changed. That cases pass does not prove
        that an edit is right.
        """
        return await self._answer(context, Question("Fix", budget, {"at": self._place(at)}, case), tokens)

    # ---- Resources ---------------------------------------------------------------------------------------------------

    def source(self, path: str) -> str:
        """A source file that the last `locate` ranked, each line with its rank and number."""
        ranks = self._ranks.get(path)
        if ranks is None:
            raise ResourceError(f"no ranking names {visible(path)}: call locate, then read one of the listed resources")
        try:
            text = self._folder.text(path)
        except UsageError as error:
            raise ResourceError(one_line(error)) from error
        if text != self._ranked[path]:
            raise ResourceError(f"{visible(path)} was changed since it was ranked: call locate again")
        width = max(map(len, ranks.values()))
        lines = [f"{ranks.get(n, ''):>{width}} {n:>5} | {source_line(line)}" for n, line in _numbered(text)]
        return "\n".join([f"rank, line, source ({NOTE})", *lines, ""])

    def resources(self) -> list[Resource]:
        """The files that the last `locate` ranked."""
        return [
            Resource(uri=SOURCE + quote(name), name=visible(name), mime_type="text/plain", description=_best(ranks))
            for name, ranks in self._ranks.items()
        ]

    # ---- Answers -----------------------------------------------------------------------------------------------------

    async def _answer(self, context: Asked, question: Question, tokens: int | None) -> str:
        return self._compact(await self._found(context, question), tokens)

    async def _found(self, context: Asked, question: Question) -> dict[str, Any]:
        """The result of a question, within its time. Raises ToolError in one line."""
        began = time.monotonic()

        async def told(doing: str) -> None:
            await context.report_progress(time.monotonic() - began, None, visible(doing))

        try:
            self._folder.check()
            if question.budget > self._most:
                raise UsageError(f"budget={question.budget:g}: at most {self._most:g} seconds")
            if self._turn.locked():
                await told("waiting for the question before this one")
            async with self._turn:
                return await ask(question, self._folder.path, told)
        except WhenceError as error:
            raise ToolError(one_line(error)) from error

    def _compact(self, result: Mapping[str, Any], tokens: int | None) -> str:
        return compact_text(dict(result), self._line, tokens or self._tokens)

    def _line(self, file: str, number: int) -> str | None:
        """A line of a file of the folder; None: it lies elsewhere, or is not there."""
        try:
            lines = self._folder.text(file).split("\n")
        except UsageError:
            return None
        return lines[number - 1] if 0 < number <= len(lines) else None

    def _place(self, at: str | None) -> str | None:
        """A place as it was given. Raises ToolError where its file is none of the folder."""
        if at is not None:
            try:
                self._folder.inside(at.partition(":")[0])
            except UsageError as error:
                raise ToolError(one_line(error)) from error
        return at

    def _remember(self, ranking: Sequence[Mapping[str, Any]]) -> None:
        """Keep a ranking for the resources, of files of the folder."""
        self._ranks, self._ranked = {}, {}
        for entry in ranking:
            try:
                self._ranked.setdefault(entry["file"], self._folder.text(entry["file"]))
            except UsageError:
                continue
            ranks = self._ranks.setdefault(entry["file"], {})
            ranks[entry["line"]] = rank_range(entry["rank"], entry["rank_worst"])


class _Server(MCPServer[Any]):
    """Tells what is wrong in one line, and lists the files that were ranked."""

    def __init__(self, tools: Tools) -> None:
        super().__init__("whence", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR")
        self._tools = tools

    async def list_resources(self) -> list[Resource]:
        """The files of the last ranking."""
        return self._tools.resources()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; arguments that it does not have are refused."""
        known = (self._tool_input_schema(name) or {}).get("properties")
        if known is not None and (more := arguments.keys() - known.keys()):
            raise ToolError(
                f"{name} has no argument {', '.join(map(visible, sorted(more)))}; it has {', '.join(known)}"
            )
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_of_arguments(name, error.__cause__)) from error.__cause__
            if isinstance(error.__cause__, ToolError):
                raise ToolError(str(error.__cause__)) from error.__cause__
            raise


def one_line(error: WhenceError) -> str:
    """What is wrong and what to do, in one line."""
    text = " ".join(str(error).split())
    hint = " ".join(error.hint.split())
    return clip(visible(f"{text} (help: {hint})" if hint else text), ERROR)


def _of_arguments(name: str, error: ValidationError) -> str:
    wrong = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return clip(visible(f"{name}: {'; '.join(wrong)}"), ERROR)


def _numbered(text: str) -> enumerate[str]:
    return enumerate(text.removesuffix("\n").split("\n"), 1)


def _best(ranks: Mapping[int, str]) -> str:
    """The first statements of a file, in words."""
    line, rank = next(iter(ranks.items()))
    return f"rank {rank} at line {line}, {len(ranks)} statements ranked"
