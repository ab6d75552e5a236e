"""Whether the changes of a batch make sense, before anything is run: each is held against its site.

Batches may have a hundred thousand changes, so every rule is one expression over all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import EVERY, Batch, Flag, Op
from whence.errors import UsageError
from whence.probe.sites import AlterPlan, Form, Operation, Role

Bools = NDArray[np.bool_]
Records = NDArray[np.void]
Text = Callable[[int], str]

HINT = "a change has to suit its site's role, form and width, as `subject.alter_plan` tells them"
COMPUTING = (Op.OPERATOR, Op.LEFT_ADD, Op.RIGHT_ADD, Op.LEFT_SET, Op.RIGHT_SET)
SETTING = (Op.SET, Op.LEFT_SET, Op.RIGHT_SET, Op.SKIP)
READING = (Op.READ, Op.READ_VALUE, Op.STOP)
FAMILIES = {  # of operations, by what computes them
    (Role.BINARY, False): (Operation.ADD, Operation.XOR),
    (Role.BINARY, True): (Operation.FADD, Operation.FREM),
    (Role.COMPARE, False): (Operation.EQ, Operation.UGE),
    (Role.COMPARE, True): (Operation.OEQ, Operation.UNO),
}
POKED = 8  # bytes at most


def check(batch: Batch, plan: AlterPlan) -> None:
    """Raises UsageError for the first continuation with a change that makes no sense."""
    _check_offsets(batch)
    if not len(batch.changes):
        return
    _check_sites(batch, plan)
    for wrong, text in _rules(batch.changes, plan):
        _refuse(batch, wrong, text)


def _refuse(batch: Batch, wrong: Bools, text: Text) -> None:
    """Raise UsageError for the first wrong change, if there is one."""
    if wrong.any():
        change = int(np.argmax(wrong))
        continuation = int(np.searchsorted(batch.offsets, change, side="right")) - 1
        raise UsageError(f"continuation {continuation}: {text(change)}", HINT)


def _check_offsets(batch: Batch) -> None:
    lengths = np.diff(batch.offsets)
    if (
        not len(batch.offsets)
        or batch.offsets[0] != 0
        or batch.offsets[-1] != len(batch.changes)
        or (lengths < 0).any()
    ):
        raise UsageError(f"the offsets of {len(batch.changes)} changes must ascend from 0 to that number")
    if (lengths == 0).any():
        raise UsageError(f"continuation {int(np.argmin(lengths))}: it has no change", "leave it out")


def _check_sites(batch: Batch, plan: AlterPlan) -> None:
    """Sites and operations have to exist before anything else can be said of them."""
    changes, count = batch.changes, len(plan.sites)
    _refuse(
        batch,
        changes["site"] >= count,
        lambda i: f"there is no site {changes['site'][i]}: the program has {count}",
    )
    _refuse(batch, ~_is(changes, *Op), lambda i: f"there is no operation {changes['op'][i]}")


def _rules(changes: Records, plan: AlterPlan) -> Iterator[tuple[Bools, Text]]:
    """Which changes break a rule, and what is said of one."""
    sites = plan.sites[changes["site"]]

    def name(i: int) -> str:
        return f"{Op(changes['op'][i]).name} at site {changes['site'][i]} ({Role(sites['role'][i]).name})"

    yield from _identity(changes, sites, name)
    yield from _roles(changes, sites, name)
    yield from _values(changes, sites, name)
    yield from _operations(changes, sites, name)
    yield from _variables(changes, sites, plan, name)
    yield from _exchanges(changes, sites, plan, name)


def _identity(changes: Records, sites: Records, name: Text) -> Iterator[tuple[Bools, Text]]:
    """What a change repeats of its site."""
    for field in ("block", "form"):

        def text(i: int, field: str = field) -> str:
            return f"{name(i)}: its {field} is {sites[field][i]}, not {changes[field][i]}"

        yield changes[field] != sites[field], text
    is_truth = (sites["role"] == Role.COMPARE) & ~_is(changes, *COMPUTING) & (changes["width"] == 1)
    wrong = (changes["width"] != sites["width"]) & ~is_truth
    yield wrong, lambda i: f"{name(i)}: its width is {sites['width'][i]} bits, not {changes['width'][i]}"
    wrong = (changes["flags"] & ~np.uint8(Flag.GUARDED | Flag.MEMORY | Flag.RELOAD)) != 0
    yield wrong, lambda i: f"{name(i)}: there are no such flags as {changes['flags'][i]}"


def _roles(changes: Records, sites: Records, name: Text) -> Iterator[tuple[Bools, Text]]:
    """Which role serves which operation."""
    role, integer = sites["role"], sites["form"] == Form.INTEGER
    is_call = role == Role.CALL
    computed = (role == Role.BINARY) | (role == Role.COMPARE)
    yield _is(changes, Op.KEEP) & (role != Role.STORE), lambda i: f"{name(i)}: only a store can be left out"
    wrong = _is(changes, Op.MEMBER) & (role != Role.LOAD)
    yield wrong, lambda i: f"{name(i)}: only what is read can be another member"
    yield _is(changes, Op.SKIP) & ~is_call, lambda i: f"{name(i)}: only a call can be skipped"
    yield is_call & ~_is(changes, Op.SKIP, Op.POKE, *READING), lambda i: f"{name(i)}: a call can only be skipped"
    yield _is(changes, *COMPUTING) & ~computed, lambda i: f"{name(i)}: nothing is computed there"
    numeric = integer | (role == Role.COMPARE)
    yield _is(changes, Op.NOT) & ~numeric, lambda i: f"{name(i)}: only an integer or a condition has another side"
    is_address = (sites["form"] == Form.POINTER) & (role != Role.COMPARE)
    yield _is(changes, Op.NEGATE) & is_address, lambda i: f"{name(i)}: an address cannot be negated"
    flags = changes["flags"]
    yield (flags & Flag.MEMORY != 0) & (role != Role.LOAD), lambda i: f"{name(i)}: only a load has memory to overwrite"
    wrong = (flags & Flag.RELOAD != 0) & ((role != Role.LOAD) | ~_is(changes, Op.POKE))
    yield wrong, lambda i: f"{name(i)}: only a load can be made again"
    yield (flags & Flag.GUARDED != 0) & is_call, lambda i: f"{name(i)}: a call has no value to guard"


def _values(changes: Records, sites: Records, name: Text) -> Iterator[tuple[Bools, Text]]:
    """Values that fit. What is added may be negative, and of floating point it is a double."""
    role, integer = sites["role"], sites["form"] != Form.FLOAT
    added = _is(changes, Op.ADD, Op.LEFT_ADD, Op.RIGHT_ADD) & integer
    width = np.where((role == Role.COMPARE) & ~_is(changes, *COMPUTING), 1, sites["width"])
    negated = ~changes["value"] + np.uint64(1)
    fits = _fits(changes["value"], width)
    wrong = _is(changes, *SETTING) & ~fits
    yield wrong, lambda i: f"{name(i)}: {changes['value'][i]:#x} does not fit into {width[i]} bits"
    wrong = added & ~fits & ~_fits(negated, width)
    yield wrong, lambda i: f"{name(i)}: {changes['value'][i]:#x} does not fit into {width[i]} bits"
    wrong = (changes["flags"] & Flag.GUARDED != 0) & ~_fits(changes["guard"], np.where(role == Role.COMPARE, 1, width))
    yield wrong, lambda i: f"{name(i)}: the guard {changes['guard'][i]:#x} does not fit into {width[i]} bits"
    wrong = _is(changes, Op.POKE) & ((changes["size"] == 0) | (changes["size"] > POKED))
    yield wrong, lambda i: f"{name(i)}: 1 to {POKED} bytes can be written, not {changes['size'][i]}"
    room = _fits(changes["value"], np.minimum(changes["size"], POKED) * 8)
    wrong = _is(changes, Op.POKE) & ~room
    yield wrong, lambda i: f"{name(i)}: {changes['value'][i]:#x} does not fit into {changes['size'][i]} bytes"


def _operations(changes: Records, sites: Records, name: Text) -> Iterator[tuple[Bools, Text]]:
    """The operation has to be of the kind that the site computes."""
    low, high = np.zeros(len(changes), np.uint8), np.zeros(len(changes), np.uint8)
    for (role, is_real), (first, last) in FAMILIES.items():
        here = (sites["role"] == role) & ((sites["form"] == Form.FLOAT) == is_real)
        low[here], high[here] = first, last
    wrong = ~np.isin(changes["operation"], np.array(list(Operation), np.uint8))
    wrong |= (changes["operation"] < low) | (changes["operation"] > high)

    def text(i: int) -> str:
        number = int(changes["operation"][i])
        known = Operation(number).name if number in set(Operation) else number
        return f"{name(i)}: operation {known} cannot stand for {Operation(sites['operation'][i]).name}"

    yield wrong & _is(changes, *COMPUTING), text


def _variables(changes: Records, sites: Records, plan: AlterPlan, name: Text) -> Iterator[tuple[Bools, Text]]:
    """The variable has to be the function's, and of the site's type."""
    first, last = plan.functions[sites["function"]], plan.functions[sites["function"] + 1]
    count = (last - first).astype(np.uint64)
    chosen = _is(changes, Op.VARIABLE)
    beyond = changes["address"] >= count
    yield (
        chosen & beyond,
        lambda i: f"{name(i)}: its function has {count[i]} variables, not number {changes['address'][i]}",
    )
    if not len(plan.variables):
        return
    variables = plan.variables[np.where(chosen & ~beyond, first + changes["address"].astype(np.int64), 0)]
    form = np.where(sites["role"] == Role.COMPARE, Form.INTEGER, sites["form"])
    wrong = (variables["width"] != changes["width"]) | (variables["form"] != form)
    yield (
        chosen & ~beyond & wrong,
        lambda i: f"{name(i)}: variable {changes['address'][i]} has {variables['width'][i]} bits, or another form",
    )


def _exchanges(changes: Records, sites: Records, plan: AlterPlan, name: Text) -> Iterator[tuple[Bools, Text]]:
    """The left operand is a branch, at every instance; the right one a truth value of the same function."""
    chosen = _is(changes, Op.EXCHANGE)
    yield chosen & (sites["role"] != Role.BRANCH), lambda i: f"{name(i)}: only a branch has an operator to exchange"
    yield chosen & (changes["clock"] != EVERY), lambda i: f"{name(i)}: an operator is exchanged at every instance"
    known = changes["address"] < len(plan.sites)
    right = plan.sites[np.where(chosen & known, changes["address"], changes["site"]).astype(np.int64)]
    is_truth = (right["width"] == 1) | (right["role"] == Role.COMPARE)
    wrong = ~known | ~is_truth | (right["function"] != sites["function"]) | (right["block"] != changes["guard"])
    yield chosen & wrong, lambda i: f"{name(i)}: site {changes['address'][i]} is no right operand of it"
    wrong = (changes["value"] > 1) | (changes["operation"] > 1)
    yield chosen & wrong, lambda i: f"{name(i)}: a condition is 0 or 1"


def _is(changes: Records, *operations: Op) -> Bools:
    """Which changes are one of these operations."""
    return np.asarray(_chosen(operations)[changes["op"]])


@cache
def _chosen(operations: tuple[Op, ...]) -> Bools:
    """For each number of an operation whether it is one of these."""
    found = np.zeros(1 << 8, np.bool_)
    found[list(operations)] = True
    return found


def _fits(values: NDArray[np.uint64], width: NDArray[np.integer]) -> Bools:
    """Whether values have no bits beyond so many."""
    shift = np.minimum(width, 63).astype(np.uint64)
    return np.asarray((width >= 64) | (values >> shift == 0))
