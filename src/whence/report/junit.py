"""Verdicts of cases as JUnit XML, the format in which CI services take the results of tests."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from whence.report.diagnosed import Diagnosed, Verdict
from whence.report.text import visible

STATEMENTS = 3  # of a failure that are named


def junit_text(subject: str, verdicts: Sequence[Verdict], diagnosed: Sequence[Diagnosed], attached: str = "") -> str:
    """One suite of all cases; the first statements of a failure stand with its cases, and the path of what is
    ``attached``.
    """
    seconds = f"{sum(one.seconds for one in verdicts):.3f}"
    counts = {"tests": str(len(verdicts)), "failures": str(sum(bool(one.kind) for one in verdicts)), "time": seconds}
    suites = ElementTree.Element("testsuites", {"name": "whence", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": visible(subject), "errors": "0", **counts})
    for one in verdicts:
        attributes = {"classname": visible(subject), "name": visible(one.case), "time": f"{one.seconds:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if one.kind:
            failure = ElementTree.SubElement(case, "failure", {"type": one.kind, "message": visible(one.text)})
            failure.text = "\n".join(_said(one.case, diagnosed))
            if attached:
                ElementTree.SubElement(case, "system-out").text = f"[[ATTACHMENT|{visible(attached)}]]"
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _said(case: str, diagnosed: Sequence[Diagnosed]) -> list[str]:
    """Lines on the failure of a case."""
    for one in diagnosed:
        if case in one.cases and one.result is not None:
            first = one.result["ranking"][:STATEMENTS]
            told = ((f"{at['rank']}. {at['file']}:{at['line']}", at["evidence"].get("text", "")) for at in first)
            return [visible("  ".join(parts)) for parts in told]
        if case in one.cases:
            return [visible(one.trouble)]
    return []
