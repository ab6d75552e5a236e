"""The program under diagnosis with its cases: built, instrumented, run and recorded.

``subject.Subject`` joins the parts below (build, program, probe, run, trace) into what techniques ask for: the verdict
of each case, coverage, and the decoded trace of a run.
"""
