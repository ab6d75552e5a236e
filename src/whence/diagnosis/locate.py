"""``locate``: every technique asked about one failure in turn, and what they say joined in one ranking.

A first ranking is there as soon as the cases have run: nothing is loaded before that it does not need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from whence.diagnosis.chosen_steps import STEPS, ChosenSteps
from whence.errors import UsageError
from whence.findings import Findings
from whence.investigation.first_use import begin_compiling
from whence.trace.compiling import is_first_use

if TYPE_CHECKING:
    from whence.diagnosis.locate_steps import Diagnosis
    from whence.investigation.investigation import Investigation


@dataclass(frozen=True, slots=True, kw_only=True)
class Locate(ChosenSteps):
    """Ranks the statements most likely at fault, and explains them."""

    def run(self, investigation: Investigation) -> Findings:
        """The combined ranking; what failed or had no time is said in its summary.

        Raises SubjectError where no case fails, UsageError for a step that there is not.
        """
        return self.diagnose(investigation).findings()

    def diagnose(self, investigation: Investigation) -> Diagnosis:
        """All that the steps found, before it is ranked. Raises what ``run`` raises."""
        for step in self.without:
            if step not in STEPS:
                raise UsageError(f"there is no step '{step}' to leave out", f"steps: {', '.join(STEPS)}")
        if is_first_use():
            begin_compiling()  # while the program's variants are built and its cases run
        investigation.failing_rows()  # which makes a first ranking known, before what all the steps need is loaded
        investigation.watcher.busy("loading the analysis")
        from whence.diagnosis.locate_steps import Diagnosis

        diagnosis = Diagnosis(investigation, self)
        diagnosis.begin()
        if diagnosis.can_compare():
            diagnosis.explain()
        return diagnosis
