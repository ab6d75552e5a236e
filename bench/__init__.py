"""The benchmarks behind docs/figures.md: each module runs as ``python -m bench.NAME`` and prints tables.

Those that measure what techniques find use Whence as a library (docs/library.md) and nothing below it. Those whose
subject is a part of Whence go below: PARTS of what techniques stand on, INSIDE of one technique each, and JOINING of
what joins their findings.
"""

PARTS = (
    *("alter", "alter_ways", "batches", "encoding", "incremental", "cvc5_terms", "debugger", "inputs", "overhead"),
    *("slicing", "sqlite", "workers", "wrapper", "common", "soak", "memory.cost", "memory.large"),
    *("real.cases", "real.check", "real.modules", "real.overflows", "real.repeat", "real.sessions", "real.switched"),
)
INSIDE = {
    "candidates": "likely_invariants",  # its sets of candidates after each step
    "real.invariants": "likely_invariants",  # the time of its steps, from one making of inputs
    "checking": "likely_invariants",  # what looking at all values costs
    "chain_algorithms": "chains",  # the share of its time that is kept for a chain's beginning
    "causes": "cause_tree",  # its events, the time of its parts, and what its optimisations save
    "real.causes": "cause_tree",
    "solver_questions": "cause_tree",  # the questions that it asks, to several solvers
    "conditions": "bugfix",  # the conditions that it tries, and in which order
    "observed_conditions": "bugfix",  # what it observes, and what that leaves to be tried
    "edit_rate": "bugfix",  # its candidates, made here or by a process of its own
    "fixes": "bugfix",  # what its database holds
    "insertions": "bugfix",  # the statements that it would put in, and in which order
    "formula_paths": "formula_based",  # its ways to make formulas, case by case
    "solver_ways": "formula_based",  # its ways to enumerate sets
    "solvers": "formula_based",
    "memory.cost": "memory",  # the time of the pass alone
    "memory.large": "memory",
    "values_order": "value_replacement",  # what it weighs of a statement
    "suppression": "execution_suppression",  # its points, and the variants that it runs
    "suppression.cost": "execution_suppression",
    "threads.schedules": "schedules",  # its strategies one by one
}
JOINING = ("ranking",)  # features and weights of the learned ranking, and the evidence of `locate` step by step
