"""Suggested changes confirmed in the source: compiled with the user's flags and run on all cases.

What a rule did in altered runs is believed only so far: a variant is not the program. The best change of each of the
first statements of a ranking is compiled, and run on every case. One that does not do there what it did in altered
runs is dropped, with its effect on the ranking; so other statements come up, whose changes are compiled next, until
those of all first statements are settled or the time is over. A change that no line of source is known for, or that
had no time, stays and says so. What holds is run with traps on arithmetic and bounds as well, and the first changes in
recorded runs whose memory is checked; one that misuses memory is doubtful, and comes behind the others. Where the
failure came of a memory error, so is all whose memory was not checked, since what lies elsewhere, or is longer, hides
it, and recorded runs come first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any

from whence.diagnosis.combined_ranking import in_order, joined_reasons, ordered
from whence.diagnosis.recorded_edits import NOT_RECORDED, RECORDED, memory_of
from whence.findings import Entry, Findings, Statement, plural, rank
from whence.subject.edited import Check, Checks, Edit, Editing, Tried
from whence.subject.edited_elsewhere import EditedElsewhere
from whence.subject.edited_memory import EditedMemory
from whence.techniques.rules.rules import SCALE, sentence

if TYPE_CHECKING:
    from pathlib import Path

    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

FIRST = 10  # statements of the ranking whose changes are confirmed
SUGGESTED = 5  # statements whose changes reports suggest, by their rules alone
ROUNDS = 20  # of compiling what has come up, and of checking what holds
RECORDING = 0.75  # of the time, for recorded runs
MISUSED = "it may do no more than hide the memory error that the failure came of"
NOT_TRAPPED = Check(trouble="not run with traps")
UNCLEAN = "they misuse memory or arithmetic, or a test of another program fails"
UNKNOWN_LINE = "no edited line of source is known for it, so it was not compiled"
Rule = dict[str, Any]  # an entry of the part ``rules``


def confirm(
    subject: Subject,
    runs: Runs,
    findings: Findings,
    deadline: float,
    first: int = FIRST,
    again: Callable[[Findings], Findings] = lambda combined: combined,
    is_misuse: bool = False,
) -> Findings:
    """Findings with rules, a combined ranking or that of ``rules``, confirmed by compiling until ``deadline``.

    The part ``rules`` has ``confirmed`` (None: not known) and ``confirmation`` (why, in words) for each rule that was
    looked at; the part ``refuted`` has the rules that were dropped. ``again`` is what is made of a combined ranking
    each time that it was put in its fixed order. ``is_misuse``: the failure came of a memory error. A command of a test
    suite is no case to run.
    """
    if not findings.parts.get("rules") or any(tested.case.command is not None for tested in runs.tested):
        return findings
    elsewhere = subject.derived(EditedElsewhere)
    confirmation = _Confirmation(runs, findings, again, is_misuse, elsewhere)
    recording = time.monotonic() + RECORDING * (deadline - time.monotonic())
    with Editing(subject, runs, deadline) as editing, EditedMemory(subject, runs, recording) as memory:
        compiled = partial(confirmation.compile, first, editing, subject.folder)
        trapped, recorded = partial(confirmation.trap, editing), partial(confirmation.record, memory, recording)
        steps = (compiled, recorded, trapped) if is_misuse else (compiled, trapped, recorded)
        for _ in range(ROUNDS):
            if not any(step() for step in steps):
                break
            confirmation.order()
    found = confirmation.findings
    return replace(found, summary=[*found.summary, *confirmation.summary()])


@dataclass(slots=True)
class _Held:
    """A rule that does in the source what it did in altered runs, with what came of it and the file's new text."""

    rule: Rule
    tried: Tried
    text: bytes
    checks: Checks


class _Confirmation:
    """Findings whose rules are settled one by one."""

    def __init__(
        self,
        runs: Runs,
        findings: Findings,
        again: Callable[[Findings], Findings],
        is_misuse: bool,
        elsewhere: EditedElsewhere,
    ) -> None:
        self._again, self._is_misuse, self._elsewhere = again, is_misuse, elsewhere
        self._names = [tested.case.name for tested in runs.tested]
        self._failing, self._passing = len(runs.failing), len(runs.passing)
        hidden = MISUSED if is_misuse else ""
        self._rules: list[Rule] = [{**rule, "doubt": rule["doubt"] or hidden} for rule in findings.parts["rules"]]
        self._settled: list[Rule] = []
        self._held: list[_Held] = []
        self._changeable = {_statement(rule) for rule in self._rules}
        self.findings = findings

    def _wanted(self, first: int) -> list[Rule]:
        """The rules that are shown, where they are not settled: the best one of the first statements of the ranking.

        And the best ones of all, since these are the changes that reports suggest.
        """
        best = {statement: rules[0] for statement, rules in self._by_statement().items()}
        shown = dict.fromkeys([*(entry.statement for entry in self.findings.ranking[:first]), *list(best)[:SUGGESTED]])
        return [best[s] for s in shown if s in best and "confirmed" not in best[s]]

    def _by_statement(self) -> dict[Statement, list[Rule]]:
        """The rules that are left of each statement, the best first."""
        found: dict[Statement, list[Rule]] = {}
        for rule in in_order(self._rules, self.findings.ranking):
            found.setdefault(_statement(rule), []).append(rule)
        return found

    def compile(self, first: int, editing: Editing, folder: Path) -> bool:
        """Settle what is wanted of sources in a folder by compiling it; returns whether there is any such rule."""
        wanted = self._wanted(first)
        written = [rule for rule in wanted if rule["after"] is not None]
        edits = [Edit(rule["file"], rule["line"], rule["before"], rule["after"]) for rule in written]
        results = editing.all(edits)
        outcomes = {id(rule): tried for rule, tried in zip(written, results, strict=True)}
        for rule in wanted:
            self.settle(rule, outcomes.get(id(rule)))
        for rule, edit, tried in zip(written, edits, results, strict=True):
            if rule["confirmed"]:
                one = _Held(rule, tried, edit.applied(folder), Checks(NOT_TRAPPED, NOT_RECORDED))
                one.checks.elsewhere = self._elsewhere.sieve(_statement(rule), one.text, editing.deadline)
                self._held += [] if one.checks.elsewhere.found else [one]
                self._check(one)
        return bool(wanted)

    def trap(self, editing: Editing) -> bool:
        """Run what holds with traps on arithmetic and bounds; returns whether there was any that had not been."""
        held = [one for one in self._held if one.checks.traps is NOT_TRAPPED]
        texts = [(one.rule["file"], one.text) for one in held]
        trapped = editing.trapped(texts, [one.tried for one in held])
        for one, check, warning in zip(held, trapped, editing.warned(texts), strict=True):
            one.checks.traps, one.checks.warning = check, warning
            self._check(one)
        return bool(held)

    def record(self, memory: EditedMemory, deadline: float) -> bool:
        """Look at recorded runs of the next suggested change that holds; returns whether there was one."""
        best = [rules[0] for rules in self._by_statement().values()]
        suggested = [one for rule in best if not rule["p2f"] for one in self._held if one.rule is rule]
        first = suggested[: SUGGESTED if self._is_misuse else RECORDED]
        held = next((one for one in first if one.checks.memory is NOT_RECORDED), None)
        if held is None:
            return False
        held.checks.elsewhere = self._elsewhere.check(_statement(held.rule), held.text, deadline)
        held.checks.memory = memory_of(memory, _statement(held.rule), held.text, held.tried, deadline)
        self._check(held)
        return True

    def _check(self, held: _Held) -> None:
        """Enter what further checks say of a rule."""
        rule, checks = held.rule, held.checks
        rule |= checks.json() | {"checked": self._passing + checks.elsewhere.runs}
        if self._is_misuse and checks.memory.before:
            rule |= {"clean": False, "doubt": f"with it, too, there is {checks.memory.before}"}
        elif checks.is_clean is False:
            rule["doubt"] = checks.found
        elif rule["doubt"] == MISUSED and checks.memory.is_clean:
            rule["doubt"] = ""
        hides = [MISUSED] if rule["doubt"] == MISUSED else []
        rule["confirmation"] = "; ".join([self._words(held.tried, []), checks.words, *hides])

    def settle(self, rule: Rule, tried: Tried | None) -> None:
        """Enter what came of a rule, and drop it if it does not hold; None: it has no edited line."""
        self._settled.append(rule)
        if tried is None or tried.trouble:
            trouble = tried.trouble if tried else UNKNOWN_LINE
            trouble += f"; {MISUSED}" if self._is_misuse else ""
            rule |= {"confirmed": None, "confirmation": trouble}
            if tried and not tried.compiles:  # no edit that anyone should make: it stays in words
                rule["after"] = None
            return
        repaired, broken = ([self._names[row] for row in rows] for rows in (tried.repaired, tried.broken))
        lost = [name for name in rule["cases"] if name not in repaired]
        holds = not lost and (bool(rule["p2f"]) or not broken)
        rule |= {"confirmed": holds, "confirmation": self._words(tried, lost)}
        if not holds:
            self._rules.remove(rule)
            return
        # By the failing cases that it was tried on: rules that are not settled know no others.
        rule["score"] = round(rule["f2p"] / sqrt(rule["failing"] * (rule["f2p"] + len(broken))), 6)
        rule |= {"cases": repaired, "broken": broken, "f2p": len(repaired), "p2f": len(broken), "unknown": 0}
        rule |= {"failing": self._failing, "checked": self._passing}

    def _words(self, tried: Tried, lost: Sequence[str]) -> str:
        """What came of it, in words."""
        ran = f"all {tried.ran:,} cases" if tried.ran > 1 else "the only case"
        lead, still = f"compiled and run on {ran}", self._failing - len(tried.repaired)
        if lost:
            return f"{lead}: `{lost[0]}` still fails{_more(len(lost) - 1)}"
        if tried.broken:
            return f"{lead}: it breaks {tried.how}{_more(len(tried.broken) - 1)}"
        return f"{lead}: " + (
            f"{still} of {self._failing} failing ones still fail"
            if still
            else "all pass"
            if tried.ran > 1
            else "it passes"
        )

    # ---- The ranking with what is settled ----------------------------------------------------------------------------

    def order(self) -> None:
        """Rank again by the rules that are left."""
        rules = self._by_statement()
        entries = {entry.statement: entry for entry in self.findings.ranking}
        corrected = {s: self._evidence(entries[s], rules.get(s, [])) for s in entries if s in self._changeable}
        rated = {s: corrected.get(s, entry.evidence) for s, entry in entries.items()}
        if self.findings.brief:
            ranking = ordered(rated)
        else:
            ranking = rank({s: entries[s].score + _gain(entries[s], rated[s]) for s in entries}, rated)
        refuted = [rule for rule in self._settled if rule["confirmed"] is False]
        parts = {**self.findings.parts, "rules": in_order(self._rules, ranking), "refuted": refuted}
        settled = replace(self.findings, ranking=ranking, parts=parts)
        self.findings = self._again(settled) if settled.brief else settled

    def _evidence(self, entry: Entry, rules: Sequence[Rule]) -> dict[str, Any]:
        """A statement's evidence, with what its rules that are left say."""
        best = {doubtful: next((r for r in rules if bool(r["doubt"]) is doubtful), None) for doubtful in (False, True)}
        rated = best[False] or best[True]
        text = self._sentence(rated) if rated else ""
        evidence = dict(entry.evidence)
        for doubtful, key in KEYS[self.findings.brief].items():
            evidence.pop(key, None)
            if (rule := best[doubtful]) is not None:
                evidence[key] = rule["score"]
        if not self.findings.brief:
            dropped = [r for r in self._settled if r["confirmed"] is False and _statement(r) == entry.statement]
            text = text or "; ".join(f"not {r['rule']}: {r['confirmation']}" for r in dropped)
            return evidence | {"text": text, "rules": len(rules)}
        others = [(r["technique"], r["text"]) for r in evidence["reasons"] if r["technique"] != "rules"]
        own = [("rules", text)] if text else []
        before = [] if best[False] else [reason for reason in others if reason[0] != "locate"]
        behind = others if best[False] else [reason for reason in others if reason[0] == "locate"]
        return evidence | joined_reasons([*before, *own, *behind])

    def _sentence(self, rule: Rule) -> str:
        """What a rule is and did; where it was compiled, what it did then."""
        if rule.get("confirmed"):
            return f"{rule['rule']}: {rule['confirmation']}"
        text = sentence(rule, self._passing)
        return f"{text}; {rule['confirmation']}" if "confirmation" in rule else text

    def _mends_all(self, rule: Rule) -> bool:
        """Whether all cases pass with a rule, as it was compiled."""
        return bool(rule["f2p"] == self._failing and not rule["p2f"])

    def summary(self) -> Iterator[str]:
        """What was compiled, in a sentence."""
        counts = {state: sum(rule["confirmed"] is state for rule in self._settled) for state in (True, False, None)}
        compiled = counts[True] + counts[False]
        if compiled:
            cases = plural(self._failing + self._passing, "case")
            text = f"compiled {plural(compiled, 'suggested change')} and ran {cases} with each: "
            whole = sum(rule["confirmed"] is True and self._mends_all(rule) for rule in self._settled)
            text += f"with {whole or 'none'} all pass"
            if part := counts[True] - whole:
                text += f", with {part} failing cases still fail or passing ones do not pass"
            text += f", {counts[False]} dropped, since altered runs had shown more" if counts[False] else ""
            unclean = sum(rule["confirmed"] is True and rule.get("clean") is False for rule in self._settled)
            yield text + (f", {unclean} not suggested: {UNCLEAN}" if unclean else "")
        if counts[None]:
            yield f"not compiled, or not run on all cases: {plural(counts[None], 'suggested change')}"


# The keys of a statement's best rule that nothing speaks against, and of its best other one (True), by whether the
# ranking is a combined one.
KEYS = {True: {False: "rules", True: "doubtful_rules"}, False: {False: "rule_score", True: "doubtful_score"}}


def _gain(entry: Entry, evidence: dict[str, Any]) -> float:
    """How much better the best rule of a statement is than it was in a ranking by rules."""
    new, old = (max(e.get(key, 0.0) for key in KEYS[False].values()) for e in (evidence, entry.evidence))
    return float(new - old) / SCALE


def _statement(rule: Rule) -> Statement:
    return Statement(rule["file"], rule["line"])


def _more(number: int) -> str:
    return f", and {number} more" if number else ""
