"""A debugging session: the requests of a client of the Debug Adapter Protocol, answered from a recorded run.

The run is recorded when the client launches it; after that nothing runs. The session is at an instant of the recording
and moves on it, in either direction, in no time that depends on what the program did there. At the end of the run it
stays: what ends the session is the client.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from whence.debug.breakpoint_table import BreakpointTable
from whence.debug.breakpoints import messages, next_hit
from whence.debug.expressions import Lvalue, NotKnown, Number, number_of
from whence.debug.origin import origin_of
from whence.debug.protocol import Connection
from whence.debug.run import Run
from whence.debug.variables import Presenter, Row, Scope, frame_of
from whence.errors import DEBUG, WhenceError
from whence.investigation.attempts import save_bug

if TYPE_CHECKING:
    from whence.subject.recorded_objects import Instant

Message = Mapping[str, Any]
Body = dict[str, Any]
Answer = tuple[Body | None, Callable[[], None] | None]  # a body, and what is done once it is sent
Launch = Callable[[Message, Callable[[str], None]], Run]  # records what is asked for, and tells of its work

CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsGotoTargetsRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsLogPoints": True,
    "supportsDelayedStackTraceLoading": True,
    "supportsBreakpointLocationsRequest": True,
    "supportsTerminateRequest": True,
    "exceptionBreakpointFilters": [
        {"filter": "symptom", "label": "Where the failure shows", "default": True},
    ],
}
MOST_MESSAGES = 1000  # of breakpoints that print, on one way
MOST_STATICS = 500
COMMANDS = "whence origin EXPRESSION, whence suspect [N], whence symptom, whence start, whence end"
SYMPTOM = "symptom"


class Refused(Exception):
    """A request that cannot be answered, in one line."""


class _Arguments(dict[str, Any]):
    """The arguments of a request; what is missing is told in one line."""

    def __missing__(self, name: str) -> Any:
        raise Refused(f"the argument `{name}` is missing")


class Session:
    """One client's session; ``launch`` makes the recorded run that it asks for."""

    def __init__(self, connection: Connection, launch: Launch) -> None:
        self._connection, self._launch = connection, launch
        self._client: Message = {}
        self._run: Run | None = None
        self._at = 0
        self._thread = 0
        self._is_over = False
        self._stops_at_symptom = True
        self._breakpoints = BreakpointTable()
        self._printed = 0  # the event up to which output was shown
        self._goals: list[int] = []  # of the lines that can be gone to
        self._frames: list[tuple[int, int]] = []  # call and event of those that the client knows by number
        self._rows: list[Callable[[int, int], list[Row]]] = []  # the lists that it knows by number
        self._shown: tuple[Instant, Presenter] | None = None

    def serve(self) -> None:
        """Answer requests until the client goes."""
        while not self._is_over:
            message = self._connection.receive()
            if message is None:
                return
            if message.get("type") == "request" and isinstance(message.get("command"), str) and "seq" in message:
                self._answer(message)

    def _answer(self, request: Message) -> None:
        command = request["command"].replace("/", "_")
        answer = getattr(self, f"on_{command}", None)
        arguments = request.get("arguments") or {}
        try:
            if answer is None:
                raise Refused(f"`{request['command']}` is not something that a recording can do")
            if not isinstance(arguments, dict):
                raise Refused("the arguments are no JSON object")
            body, after = answer(_Arguments(arguments))
        except (Refused, NotKnown) as error:
            self._connection.refuse(request, str(error))
            return
        except WhenceError as error:
            hint = f" ({error.hint.splitlines()[0]})" if error.hint else ""
            self._connection.refuse(request, f"{error}{hint}", show=True)
            return
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            path = save_bug(error, f"dap {command}")
            self._connection.refuse(request, f"internal error ({type(error).__name__}), see {path}", show=True)
            return
        self._connection.respond(request, body)
        if after is not None:
            self._do(after, command)

    def _do(self, after: Callable[[], None], command: str) -> None:
        """Do what follows an answer; where that fails, the session stays where it is."""
        try:
            after()
        except Exception as error:
            if os.environ.get(DEBUG):
                raise
            self._say(f"internal error ({type(error).__name__}), see {save_bug(error, f'dap {command}')}")
            self._connection.event("stopped", {"reason": "pause", "threadId": self._thread + 1})

    @property
    def run(self) -> Run:
        """The recorded run; raises Refused where none was launched."""
        if self._run is None:
            raise Refused("no run was launched")
        return self._run

    # ---- The session -------------------------------------------------------------------------------------------------

    def on_initialize(self, arguments: Message) -> Answer:
        """What the adapter can do."""
        self._client = arguments
        return dict(CAPABILITIES), None

    def on_launch(self, arguments: Message) -> Answer:
        """Record the run that is asked for."""
        if self._run is not None:
            raise Refused("a run was launched already")
        connection = self._connection
        shows_progress = bool(self._client.get("supportsProgressReporting"))
        if shows_progress:
            connection.event("progressStart", {"progressId": "whence", "title": "whence", "cancellable": False})

        def tell(text: str) -> None:
            if shows_progress:
                connection.event("progressUpdate", {"progressId": "whence", "message": text})
            else:
                self._say(text)

        connection.is_busy = True
        try:
            self._run = self._launch(arguments, tell)
        except KeyboardInterrupt:
            raise Refused("stopped by the client") from None
        finally:
            connection.is_busy = False
            if shows_progress:
                connection.event("progressEnd", {"progressId": "whence"})
        return None, self._launched

    def _launched(self) -> None:
        for line in self.run.remarks:
            self._say(line)
        self._connection.event("initialized")

    def on_attach(self, arguments: Message) -> Answer:
        """A recording is made by a launch."""
        raise Refused('a recording is made by a launch: set "request" to "launch"')

    def on_configurationDone(self, arguments: Message) -> Answer:
        """Stop where the launch asked for it."""
        run = self.run
        return None, lambda: self._stop(run.first_stop, "entry" if run.first_stop != run.symptom_event else "exception")

    def on_disconnect(self, arguments: Message) -> Answer:
        """The end."""
        self._is_over = True
        return None, None

    def on_terminate(self, arguments: Message) -> Answer:
        """Nothing runs that could be ended."""
        return None, lambda: self._connection.event("terminated")

    def _say(self, text: str, category: str = "console") -> None:
        self._connection.event("output", {"category": category, "output": text + "\n"})

    # ---- Breakpoints -------------------------------------------------------------------------------------------------

    def on_setBreakpoints(self, arguments: Message) -> Answer:
        """Set all breakpoints of a file; each goes to the next line that has a statement."""
        path = str(arguments["source"].get("path") or "")
        asked = arguments.get("breakpoints") or [{"line": line} for line in arguments.get("lines", [])]
        asked = [each | {"line": int(_Arguments(each)["line"]) + self._line_base} for each in asked]
        rows = self._breakpoints.set_lines(self.run, path, asked)
        for row in rows:
            row |= {"line": row["line"] - self._line_base} if "line" in row else {}
        return {"breakpoints": rows}, None

    def on_setFunctionBreakpoints(self, arguments: Message) -> Answer:
        """Set all breakpoints on functions."""
        return {"breakpoints": self._breakpoints.set_functions(self.run, arguments["breakpoints"])}, None

    def on_setExceptionBreakpoints(self, arguments: Message) -> Answer:
        """Whether the way forwards stops where the failure shows."""
        self._stops_at_symptom = SYMPTOM in arguments["filters"]
        return None, None

    def on_breakpointLocations(self, arguments: Message) -> Answer:
        """The lines on which breakpoints can stand."""
        file = self.run.lines.file(str(arguments["source"].get("path") or ""))
        first = int(arguments["line"]) + self._line_base
        last = int(arguments.get("endLine") or arguments["line"]) + self._line_base
        lines = self.run.lines.lines(file, first, last) if file is not None else []
        return {"breakpoints": [{"line": line - self._line_base} for line in lines]}, None

    @property
    def _line_base(self) -> int:
        """What is added to a client's number of a line."""
        return 0 if self._client.get("linesStartAt1", True) else 1

    # ---- Ways --------------------------------------------------------------------------------------------------------

    def on_continue(self, arguments: Message) -> Answer:
        """Forwards to the next breakpoint, the failure, or the end."""
        return {"allThreadsContinued": True}, lambda: self._go(True)

    def on_reverseContinue(self, arguments: Message) -> Answer:
        """Backwards to the last breakpoint, or the beginning."""
        return None, lambda: self._go(False)

    def _go(self, forwards: bool) -> None:
        run, bound, reason = self.run, self.run.timeline.end if forwards else self.run.timeline.start, "pause"
        symptom = run.symptom_event
        if forwards and self._stops_at_symptom and self._at < symptom <= bound:
            bound, reason = symptom, "exception"
        hit = next_hit(self._breakpoints.all(), self._at, forwards, bound, self._holds)
        if hit is None:
            self._stop(bound, reason)
            return
        if hit.gave_up:
            self._say(f"no condition held in {hit.gave_up:,} tests: stopped here, continue to go on")
        self._stop(hit.event, "breakpoint" if hit.numbers else "pause", hit.numbers)

    def _holds(self, condition: str, event: int) -> bool:
        """Whether a condition holds at an event; where it has no value it does not."""
        instant = self.run.objects.at(event)
        try:
            scope = Scope(instant, frame_of(instant, self.run.timeline.frame(event), event), event)
            found = scope.evaluate(condition)
            number = found if isinstance(found, Number) else number_of(found, instant)
        except NotKnown:
            return False
        return bool(number.value)

    def on_next(self, arguments: Message) -> Answer:
        """To the next line, over calls."""
        return self._step(arguments, lambda at, thread: self.run.timeline.step_over(at, thread))

    def on_stepIn(self, arguments: Message) -> Answer:
        """To the next line, into calls."""
        return self._step(arguments, lambda at, thread: self.run.timeline.step_in(at, thread))

    def on_stepOut(self, arguments: Message) -> Answer:
        """To where the call was made, behind it."""
        return self._step(arguments, lambda at, thread: self.run.timeline.step_out(at))

    def on_stepBack(self, arguments: Message) -> Answer:
        """To the line before, over calls."""
        return self._step(arguments, lambda at, thread: self.run.timeline.step_back(at, thread))

    def _step(self, arguments: Message, way: Callable[[int, int], int]) -> Answer:
        thread = int(arguments["threadId"]) - 1
        at = self.run.timeline.thread_events(self._at).get(thread)
        if at is None:
            raise Refused(f"thread {thread + 1} does not run here")

        def step() -> None:
            target = way(at, thread)
            symptom, forwards = self.run.symptom_event, target > self._at
            if forwards and self._stops_at_symptom and self._at < symptom <= target:
                self._stop(symptom, "exception")
            else:
                self._stop(target, "step")

        return None, step

    def on_pause(self, arguments: Message) -> Answer:
        """Nothing runs: the session is where it is."""
        return None, lambda: self._stop(self._at, "pause")

    def on_gotoTargets(self, arguments: Message) -> Answer:
        """The times at which the run was on a line: the last before now, the next, the first and the last of all."""
        lines = self.run.lines
        file = lines.file(str(arguments["source"].get("path") or ""))
        statement = lines.at_or_behind(file, int(arguments["line"]) + self._line_base) if file is not None else None
        steps = lines.steps(statement).tolist() if statement is not None else []
        if statement is None or not steps:
            raise Refused("the recorded run does not come to this line")
        before = [step for step in steps if step < self._at]
        after = [step for step in steps if step > self._at]
        chosen = {"the time before": before[-1:], "the next time": after[:1], "the first time": steps[:1]}
        chosen["the last time"] = steps[-1:]
        targets, seen = [], set[int]()
        for label, goals in chosen.items():
            for goal in goals:
                if goal not in seen:
                    seen.add(goal)
                    self._goals.append(goal)
                    line = statement.line - self._line_base
                    targets.append({"id": len(self._goals), "label": f"line {statement.line}, {label}", "line": line})
        return {"targets": targets}, None

    def on_goto(self, arguments: Message) -> Answer:
        """Go to one of these times."""
        number = int(arguments["targetId"])
        if not 1 <= number <= len(self._goals):
            raise Refused("no such target")
        return None, lambda: self._stop(self._goals[number - 1], "goto")

    def _stop(self, event: int, reason: str, breakpoints: tuple[int, ...] = ()) -> None:
        """Go to an event, and tell the client."""
        run, forwards = self.run, event > self._at
        if forwards:
            for at, each in messages(self._breakpoints.all(), self._at, event, MOST_MESSAGES):
                self._say(self._filled(each.message, at))
        for category, text in run.output(self._printed, event):
            self._connection.event("output", {"category": category, "output": text})
        self._printed = max(self._printed, event)
        self._at, self._thread = event, run.timeline.thread(event)
        self._frames, self._rows, self._shown = [], [], None
        if event == run.symptom_event and reason in ("step", "pause"):
            reason = "exception"
        body: Body = {"reason": reason, "threadId": self._thread + 1, "allThreadsStopped": True}
        text = run.words(event)
        if text:
            body |= {"description": text, "text": text}
        if breakpoints:
            body["hitBreakpointIds"] = list(breakpoints)
        self._connection.event("stopped", body)

    def _filled(self, message: str, event: int) -> str:
        """A message of a breakpoint with the values of the expressions that stand in its braces."""
        instant = self.run.objects.at(event)
        scope = Scope(instant, frame_of(instant, self.run.timeline.frame(event), event), event)
        presenter, found = Presenter(instant), ""
        for number, part in enumerate(message.replace("}", "{").split("{")):
            if number % 2:
                try:
                    part = presenter.shown(scope.evaluate(part), "", part).value
                except NotKnown as error:
                    part = f"({error})"
            found += part
        return found

    # ---- The state ---------------------------------------------------------------------------------------------------

    def on_threads(self, arguments: Message) -> Answer:
        """The threads that run at the instant."""
        run = self.run
        threads = sorted(run.timeline.thread_events(self._at).items())
        return {"threads": [{"id": n + 1, "name": run.thread_name(n, at)} for n, at in threads]}, None

    def on_stackTrace(self, arguments: Message) -> Answer:
        """The open calls of a thread, the innermost first."""
        run, thread = self.run, int(arguments["threadId"]) - 1
        at = run.timeline.thread_events(self._at).get(thread)
        if at is None:
            raise Refused(f"thread {thread + 1} does not run here")
        first, total = int(arguments.get("startFrame") or 0), run.timeline.depth(at) + 1
        most = int(arguments.get("levels") or 0) or total
        found = [self._frame(*call) for call in run.timeline.calls(at, first, most)]
        return {"stackFrames": found, "totalFrames": total}, None

    def _frame(self, number: int, at: int) -> Body:
        run = self.run
        self._frames.append((number, at))
        found: Body = {"id": len(self._frames), "name": run.function(number), "line": 0, "column": 0}
        statement = run.timeline.statement(at) if at >= 0 else None
        if statement is None:
            return found | {"presentationHint": "subtle"}
        source = {"name": statement.file.rpartition("/")[2], "path": run.lines.path(statement.file)}
        base = 1 - int(bool(self._client.get("columnsStartAt1", True)))
        return found | {"line": statement.line - self._line_base, "column": 1 - base, "source": source}

    def _scope(self, number: Any) -> Scope:
        """The names of a frame that the client knows by number; of none, of where the run is."""
        if number is None:
            return self._scope_of(self.run.timeline.frame(self._at), self._at)
        if not 1 <= int(number) <= len(self._frames):
            raise Refused("the frame is of another instant")
        return self._scope_of(*self._frames[int(number) - 1])

    def _scope_of(self, frame: int, at: int) -> Scope:
        instant, _ = self._now
        return Scope(instant, frame_of(instant, frame, at), at if at >= 0 else self._at)

    @property
    def _now(self) -> tuple[Instant, Presenter]:
        """The memory at the instant, and what shows it."""
        if self._shown is None:
            instant = self.run.objects.at(self._at)
            self._shown = instant, Presenter(instant)
        return self._shown

    def on_scopes(self, arguments: Message) -> Answer:
        """The lists of variables of a frame."""
        scope = self._scope(arguments["frameId"])
        _, presenter = self._now

        def rows(lvalues: Callable[[], list[Lvalue]]) -> Callable[[int, int], list[Row]]:
            def page(start: int, count: int) -> list[Row]:
                end = start + (count or MOST_STATICS)
                return [presenter.shown(lvalue, lvalue.path.text, lvalue.path.text) for lvalue in lvalues()[start:end]]

            return page

        lists = (
            ("Arguments", "arguments", scope.arguments, False),
            ("Locals", "locals", scope.locals, False),
            ("Static variables", "globals", scope.statics, True),
        )
        found = []
        for name, hint, lvalues, expensive in lists:
            reference = self._reference(rows(lvalues))
            found.append(
                {"name": name, "presentationHint": hint, "variablesReference": reference, "expensive": expensive}
            )
        return {"scopes": found}, None

    def _reference(self, rows: Callable[[int, int], list[Row]]) -> int:
        self._rows.append(rows)
        return len(self._rows)

    def on_variables(self, arguments: Message) -> Answer:
        """The rows of a list, or the parts of what a row shows."""
        number = int(arguments["variablesReference"])
        if not 1 <= number <= len(self._rows):
            raise Refused("the variables are of another instant")
        rows = self._rows[number - 1](int(arguments.get("start") or 0), int(arguments.get("count") or 0))
        return {"variables": [{"name": row.name, **self._row(row, "value")} for row in rows]}, None

    def _row(self, row: Row, key: str) -> Body:
        """A row as messages have it, its value under a key."""
        _, presenter = self._now
        whole = row.whole
        reference = (
            self._reference(lambda start, count: presenter.parts(whole, start, count)) if whole is not None else 0
        )
        found: Body = {key: row.value, "type": row.type, "variablesReference": reference}
        if row.indexed:
            found["indexedVariables"] = row.indexed
        if key == "value":
            found["evaluateName"] = row.expression
        return found

    def on_evaluate(self, arguments: Message) -> Answer:
        """An expression in a frame; in the console also what leads to other instants."""
        text = str(arguments["expression"]).strip()
        scope = self._scope(arguments.get("frameId"))
        if arguments.get("context") == "repl" and (text == "whence" or text.startswith("whence ")):
            return self._command(text.split(maxsplit=2)[1:], scope)
        if not text:
            raise Refused("no expression was given")
        row = self._now[1].shown(scope.evaluate(text), text, text)
        return self._row(row, "result"), None

    def _command(self, words: list[str], scope: Scope) -> Answer:
        """What the console does beside expressions."""
        run = self.run
        if words[:1] == ["suspect"]:
            return self._to_suspect(words[1] if len(words) > 1 else "1")
        goals = {"start": run.timeline.start, "end": run.timeline.end, SYMPTOM: run.symptom_event}
        if words[:1] == ["origin"] and len(words) == 2:
            return self._to_origin(words[1], scope)
        if len(words) != 1 or words[0] not in goals:
            raise Refused(f"commands: {COMMANDS}")
        goal = goals[words[0]]
        if goal < 0:
            raise Refused("the failure shows at no place of this run")
        return {"result": run.words(goal) or words[0], "variablesReference": 0}, lambda: self._stop(goal, "goto")

    def _to_suspect(self, number: str) -> Answer:
        """To the last time before the failure that the run was on a suspicious line."""
        if not number.isdecimal():
            raise Refused(f"`{number}` is no number of a suspect")
        goal = self.run.suspicious_step(int(number))
        line = self.run.suspects[int(number) - 1].line
        if goal < 0:
            raise Refused(f"the run never reached {line}")
        return {"result": line, "variablesReference": 0}, lambda: self._stop(goal, "goto")

    def on_whence_origin(self, arguments: Message) -> Answer:
        """Go to where a value came from."""
        return self._to_origin(str(arguments["expression"]), self._scope(arguments.get("frameId")))

    def _to_origin(self, text: str, scope: Scope) -> Answer:
        found = scope.evaluate(text)
        if not isinstance(found, Lvalue):
            raise Refused(f"`{text}` lies at no place: give a variable or a part of one")
        origin = origin_of(found, self._now[0], self.run.reader)
        body = {"result": origin.text, "variablesReference": 0}
        if origin.event < 0:
            return body, None
        return body, lambda: self._stop(origin.event, "goto")

    def on_exceptionInfo(self, arguments: Message) -> Answer:
        """The failure."""
        symptom = self.run.symptom
        if symptom is None or self._at != self.run.symptom_event:
            raise Refused("the failure does not show here")
        return {"exceptionId": symptom.kind, "description": symptom.text, "breakMode": "always"}, None
