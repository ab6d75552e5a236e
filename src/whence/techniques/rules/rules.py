"""Persistent rules: one change of one site at all its instances in a whole run, checked on failing and passing cases.

A rule that makes failing cases pass and breaks no passing one is close to a repair of the fault, so the statement that
it changes is close to the fault. A statement's score is that of its best rule: ``f2p / sqrt(F (f2p + p2f))``, where
f2p is the number of failing cases that pass with the rule, p2f that of passing cases that fail with it, and F that of
failing cases: Ochiai's formula, with "the rule changes the verdict" in place of "the case executes the statement".

Beyond Jeffrey's dissertation (2009), whose Value Replacement changes single instances in failing runs alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Observed, Verdict, Way
from whence.alter.describe import Describer
from whence.alter.profile import Profile
from whence.findings import Entry, Findings, Statement, rank
from whence.probe.sites import Role
from whence.subject.runs import coverage
from whence.subject.suspiciousness import rank_by_coverage
from whence.techniques.rules.candidates import Candidates, Pair, Rule, guarded
from whence.techniques.rules.suggestions import Suggestions
from whence.techniques.rules.thresholds import Compared
from whence.techniques.rules.trials import Integers, Search, Settings, Suite, Trial

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

OBSERVED = 1 << 20  # instances of a run that go into the value profile
CHEAP = 1 << 17  # clock ticks of an altered run, which take no longer than to begin it
AHEAD = 50  # sites in front whose costs count nearly alone
LISTED = 1000  # rules in ``parts["rules"]``
TIE = 1e-3  # weight of what orders statements whose rules are equally good
SCALE = 1 + TIE + TIE**2  # by which scores are divided, so that they end at 1


def rules(
    subject: Subject,
    runs: Runs,
    work: Work,
    settings: Settings | None = None,
    *,
    among: Sequence[int] | None = None,
    pairs: Iterable[Pair] = (),
    order: Sequence[Entry] | None = None,
) -> Findings:
    """Rank the statements that failing cases executed by the best rule of each; ``parts["rules"]`` lists the rules.

    ``among`` are the rows of the failing cases to choose from, by default all. ``pairs`` are those that Value
    Replacement found; they become guarded rules. ``order`` is a ranking whose first statements are tried first (that
    by Op2). Raises SubjectError where no failing case can be altered.
    """
    suite, describer = Suite(subject, runs, settings or Settings(), among), Describer(subject)
    covered = coverage(subject, runs)
    suspects = rank_by_coverage(covered, "op2")
    wanted = rules_to_try(suite, work, pairs, describer, suspects if order is None else order)
    latest = {trial.rule: trial for portion in Search(subject, suite, work).portions(wanted) for trial in portion}
    trials = list(latest.values())
    is_all = next(wanted, None) is None
    findings = Findings("rules", subject.name, parts={"cases": covered.case_totals()})
    _fill(findings, suite, describer, suspects, trials)
    findings.summary.append(_summary(suite, trials, is_all))
    return findings


def rules_to_try(
    suite: Suite, work: Work, pairs: Iterable[Pair], describer: Describer, suspects: Sequence[Entry]
) -> Iterator[Rule]:
    """The rules to try on some cases, the most promising first; the values that runs have had are looked at for that.

    They are made as they are asked for, since a program has tens of thousands of them. Raises SubjectError where no
    failing case can be altered.
    """
    subject = describer.subject
    observed = dict(zip(suite.observed, work.observe(suite.cases(suite.observed), OBSERVED), strict=True))
    suite.lengths = {row: run.length for row, run in observed.items()}
    suite.leave_out(work.unusable)
    sites = subject.alter_plan.sites
    profile = Profile.of(sites, [run.events for run in observed.values()])
    suite.profile = None if any(run.cut for run in observed.values()) else profile
    costs = _costs(observed[suite.failing[0]], len(sites))
    return _made(subject, suite, profile, costs, list(guarded(pairs, sites)), describer, suspects)


def _costs(observed: Observed, sites: int) -> Integers:
    """For each site what a run costs that is altered from its first instance on: the logarithm of its length (int64).

    Up to CHEAP ticks all cost the same, and so they do where all begin anew, or the unaltered run does not end.
    """
    if observed.result["way"] == Way.RESTART or observed.result["verdict"] == Verdict.TIMEOUT:
        return np.zeros(sites, np.int64)
    lengths = observed.length - observed.first_clocks(sites)
    return np.asarray(np.maximum(np.frexp(lengths / CHEAP)[1], 0), np.int64)


def _made(
    subject: Subject,
    suite: Suite,
    profile: Profile,
    costs: Integers,
    guards: Sequence[Rule],
    describer: Describer,
    suspects: Sequence[Entry],
) -> Iterator[Rule]:
    """The distinct rules of all sites that are tried: by the suspiciousness of the statement, then by tier.

    Of a long run a rule whose site is first come to late takes a part of the time of others (``costs``): as many times
    further behind as the others take longer it is tried before them.
    """
    suspicion = {entry.statement: entry.score for entry in suspects}
    lowest = min(suspicion.values(), default=0.0)
    blocks = subject.alter_plan.sites["block"].astype(np.int64)
    by_promise: dict[tuple[float, int], tuple[list[Rule], list[int]]] = defaultdict(lambda: ([], []))

    def alike(site: int) -> tuple[list[Rule], list[int]]:
        statement = describer.statement(site)
        return by_promise[suspicion.get(statement, lowest) if statement else lowest, int(costs[site])]

    for rule in guards:
        alike(rule.site)[0].append(rule)
    for site in np.flatnonzero(suite.are_tried(blocks) & (describer.statements >= 0)).tolist():
        alike(site)[1].append(site)
    candidates, families = Candidates(subject, profile), suite.settings.families
    for promise in _in_turn({promise: len(sites) for promise, (_, sites) in by_promise.items()}):
        known, sites = by_promise[promise]
        made = dict.fromkeys([*known, *(rule for site in sites for rule in candidates.of(site))])
        yield from sorted((rule for rule in made if rule.family in families), key=attrgetter("tier"))


def _in_turn(sites: Mapping[tuple[float, int], int]) -> list[tuple[float, int]]:
    """Groups of sites by suspicion and cost, each with how many sites it has, in the order in which they are tried."""
    turns, before = dict[tuple[float, int], float](), 0
    for suspicion, cost in sorted(sites, key=lambda one: (-one[0], one[1])):
        turns[suspicion, cost] = (before + AHEAD) * 2.0**cost
        before += sites[suspicion, cost]
    return sorted(turns, key=turns.__getitem__)


# ---- Findings --------------------------------------------------------------------------------------------------------


def _fill(
    findings: Findings, suite: Suite, describer: Describer, suspects: Sequence[Entry], trials: Sequence[Trial]
) -> None:
    """The ranking and the part ``rules``: of equally good rules those first that were tried first."""
    suggestions = Suggestions(describer)
    sites = describer.sites
    repairs = best_first(trials, sites)
    by_statement: dict[Statement, list[Trial]] = {}
    for trial in repairs:
        if (statement := describer.statement(trial.rule.site)) is not None:
            by_statement.setdefault(statement, []).append(trial)
    tried = Counter(describer.statement(trial.rule.site) for trial in trials if not trial.is_untried)
    findings.ranking = _ranked(by_statement, suspects, suite, suggestions, sites, tried)
    compared = None if suite.profile is None else Compared(describer.subject, suite.profile)
    findings.parts["rules"] = [
        _row(trial, suite, suggestions, sites) | {"alike": _alike(trial.rule, compared)} for trial in repairs[:LISTED]
    ]


def best_first(trials: Iterable[Trial], sites: NDArray[np.void]) -> list[Trial]:
    """The trials that repaired a case, the best first.

    Of equally good ones that comes first which nothing speaks against, and then that which alters passing runs least.
    """
    found = (trial for trial in trials if trial.repaired)
    return sorted(found, key=lambda trial: (-trial.score, bool(doubt(trial, sites)), trial.astray))


def doubt(trial: Trial, sites: NDArray[np.void]) -> str:
    """What speaks against a rule; empty: nothing does.

    One that forces a switch, or holds where a value is a certain one, fits the failing runs rather than the fault.
    """
    if trial.broken:
        return f"it breaks {_count(len(trial.broken), 'passing case')}"
    if trial.unknown:
        return f"there was no time for {_count(trial.unknown, 'run')} with it"
    if trial.rule.guard is not None:
        return "it fits one value alone"
    return "it forces one case of a switch" if sites["role"][trial.rule.site] == Role.SWITCH else ""


def _ranked(
    repairs: dict[Statement, list[Trial]],
    suspects: Sequence[Entry],
    suite: Suite,
    suggestions: Suggestions,
    sites: NDArray[np.void],
    tried: Counter[Statement | None],
) -> list[Entry]:
    """Statements by their best rule; what is equal, and what has none, by Op2, then by how many rules are as good.

    Of each its best rule is told; one that nothing speaks against before any other. ``tried``: how many were tried.
    """
    top = max((entry.score for entry in suspects), default=0.0)
    span = top - min((entry.score for entry in suspects), default=0.0) or 1.0
    scores, notes = {}, {}
    for entry in suspects:
        found = repairs.get(entry.statement, [])
        best = found[0].score if found else 0.0
        equals = sum(trial.score == best for trial in found)
        order = 1 - (top - entry.score) / span + TIE * equals / (1 + equals)
        scores[entry.statement] = (best + TIE * order) / SCALE
        notes[entry.statement] = {**entry.evidence, "tried": tried[entry.statement], "rules": len(found)}
        for key, doubtful in (("doubtful_score", True), ("rule_score", False)):
            mine = [trial for trial in found if bool(doubt(trial, sites)) is doubtful]
            if mine:
                text = sentence(_row(mine[0], suite, suggestions, sites), len(suite.passing))
                notes[entry.statement] |= {"text": text, key: round(mine[0].score, 6)}
    return rank(scores, notes)


def sentence(row: dict[str, Any], passing: int) -> str:
    """What a rule is, and what it did to the cases; ``passing`` cases there are."""
    text = f"{row['rule']}: {row['f2p']} of {_count(row['failing'], 'failing case')} "
    text += "passes with it" if row["f2p"] == 1 else "pass with it"
    if not passing and not row["checked"]:
        return f"{text}, and there is no passing case to check it on"
    tried, broken = row["checked"], row["p2f"]
    if not tried:
        late = "but there was no time to try it on passing cases"
        return f"{text}, {late if row['unknown'] else 'and no passing case comes there'}"
    text += f", and {broken or 'none'} of {_count(tried, 'passing case')} that come there "
    text += "fails" if broken < 2 else "fail"
    return text + (f" ({_count(row['unknown'], 'run')} more not made)" if row["unknown"] else "")


def _row(trial: Trial, suite: Suite, suggestions: Suggestions, sites: NDArray[np.void]) -> dict[str, Any]:
    """A rule as an entry of the part ``rules``."""
    told, tested = suggestions.of(trial.rule), suite.runs.tested
    assert told.statement is not None
    return {
        "file": told.statement.file,
        "line": told.statement.line,
        "rule": told.words,
        "before": told.before,
        "after": told.after,
        "f2p": len(trial.repaired),
        "p2f": len(trial.broken),
        "failing": trial.failing,
        "checked": trial.checked,
        "unknown": trial.unknown,
        "score": round(trial.score, 6),
        "doubt": doubt(trial, sites),
        "family": trial.rule.family.name.lower(),
        "takes_away": told.takes_away,
        "cases": [tested[row].case.name for row in trial.repaired],
        "broken": [tested[row].case.name for row in trial.broken],
    }


def _alike(rule: Rule, compared: Compared | None) -> list[int]:
    """The ends of the range of limits that would do as well as that of a rule; empty: no such range is known."""
    return compared.alike(rule.site, rule.op, rule.operation, rule.value) if compared is not None else []


def _summary(suite: Suite, trials: Sequence[Trial], is_all: bool) -> str:
    """What was tried; ``is_all``: on all rules there are trials."""
    tried = [trial for trial in trials if not trial.is_untried]
    repairs = [trial for trial in tried if trial.repaired]
    clean = sum(len(trial.repaired) == trial.failing and not trial.broken and not trial.unknown for trial in repairs)
    is_all = is_all and len(tried) == len(trials)
    if not is_all and not tried:
        return "tried no rules: there was no time"
    text = f"tried {_count(len(tried), 'rule')} on {_count(len(suite.failing), 'failing case')}"
    if suite.further and repairs:
        text += f", what repairs most of them on {len(suite.further):,} more"
    if not is_all:
        text += " (there was no time for others)"
    found = f"{len(repairs):,} {'repairs' if len(repairs) == 1 else 'repair'}"
    unlike = sum(trial.is_unlike for trial in tried)
    text += f", {unlike:,} of them on the shortest run alone, which they do not repair" if unlike else ""
    untried = sum(bool(trial.unknown) and not trial.is_unlike for trial in repairs or tried)
    rest = f"; {untried:,} of these had no time to be tried on every case" if untried else ""
    is_one = len(suite.failing) + len(suite.further) == 1
    if not repairs:
        return f"{text}: none repairs {'it' if is_one else 'any'}{rest}"
    if is_one:
        return f"{text}: {found} it, {clean or 'none'} of them without breaking a passing one{rest}"
    return f"{text}: {found} at least one, {clean or 'none'} of them all without breaking a passing one{rest}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
