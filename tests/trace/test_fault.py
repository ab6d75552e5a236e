"""Which address an instruction accessed, from its bytes and the registers."""

from __future__ import annotations

import pytest

from whence.trace.fault import PAGE_FAULT, REGISTERS, Fault

PROTECTION = 13
TEXT = 0x4141414141414141


def fault(code: str, trap: int = PROTECTION, reported: int = 0, *, top: int = 0, **registers: int) -> Fault:
    values = {"rip": 0x401000, "rsp": 0x7FFFFFFFE000} | registers
    return Fault(trap, 0, reported, top, bytes.fromhex(code), tuple(values.get(name, 0) for name in REGISTERS))


@pytest.mark.parametrize(
    ("code", "registers", "address"),
    [
        ("8b00", {"rax": TEXT}, TEXT),  # mov eax, [rax]
        ("488b448810", {"rax": TEXT, "rcx": 2}, TEXT + 8 + 16),  # mov rax, [rax+rcx*4+16]
        ("488b40f8", {"rax": TEXT}, TEXT - 8),  # mov rax, [rax-8]
        ("f3a4", {"rsi": 0x1000, "rdi": TEXT}, TEXT),  # rep movsb: the one that is no address
        ("c5fd740f", {"rdi": TEXT}, TEXT),  # vpcmpeqb ymm1, ymm0, [rdi]
        ("ffd1", {"rcx": TEXT}, TEXT),  # call rcx
        ("ff10", {"rax": TEXT}, TEXT),  # call [rax]
        ("0f2900", {"rax": 0x1001}, 0x1001),  # movaps [rax], xmm0: an address, but not aligned
        ("8b0510000000", {"rip": 0x401000}, 0x401016),  # mov eax, [rip+16]
        ("", {"rax": TEXT}, 0),
    ],
)
def test_operands_are_decoded(code: str, registers: dict[str, int], address: int) -> None:
    assert fault(code, **registers).address == address


def test_page_faults_are_told_by_the_kernel() -> None:
    assert fault("8b00", PAGE_FAULT, 0x10, rax=TEXT).address == 0x10


def test_return_to_what_is_no_address() -> None:
    returned = fault("c3", top=TEXT)
    assert returned.is_return and returned.address == TEXT and returned.return_slot == 0x7FFFFFFFE000


def test_return_to_where_no_code_is() -> None:
    landed = fault("", PAGE_FAULT, 0x41424344, rip=0x41424344)
    assert landed.is_fetch and landed.address == 0x41424344 and landed.return_slot == 0x7FFFFFFFE000 - 8
    assert not fault("8b00", PAGE_FAULT, 0x10).is_fetch
