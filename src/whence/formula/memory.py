"""The run's memory as terms, byte by byte: what a load gives is put together from the stores that wrote its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from whence.formula.terms import Term, Terms

UNKNOWN = -1  # written by something that gave no terms
_BYTE_BITS = 24  # of a code: which byte of its term a byte is
_BYTE_MASK = (1 << _BYTE_BITS) - 1
MOST_MARKED = 1 << 16  # bytes; of a longer range only those that had terms are noted


class Memory:
    """Bytes by address. A byte is a code, term << 24 | number of the byte in it; -1 for one of unknown origin.

    ``initial(address)`` is asked once for each byte that nothing has written yet: a term of 8 bits, or None.
    """

    def __init__(self, terms: Terms, initial: Callable[[int], Term | None]) -> None:
        self.terms = terms
        self._initial = initial
        self._bytes: dict[int, int] = {}
        self._forgotten: list[tuple[int, int]] = []
        self._journals: list[dict[int, int | None]] = []  # since each mark: what changed bytes held before

    def write(self, address: int, term: Term) -> None:
        """Put a term of whole bytes at an address, lowest byte first."""
        cells, code, length = self._bytes, term << _BYTE_BITS, self.terms.widths[term] >> 3
        if self._journals:
            self._remember(range(address, address + length))
        for k in range(length):
            cells[address + k] = code + k

    def byte(self, address: int) -> Term | None:
        """One byte; None where it is unknown."""
        code = self._code(address)
        if code < 0:
            return None
        return self.terms.extract(code >> _BYTE_BITS, 8 * (code & _BYTE_MASK), 8)

    def read(self, address: int, size: int) -> Term | None:
        """The bytes as one term; None where any of them is unknown."""
        cells = self._bytes
        code = cells.get(address, UNKNOWN)
        if code >= 0 and not code & _BYTE_MASK and self.terms.widths[code >> _BYTE_BITS] == 8 * size:
            for k in range(1, size):
                if cells.get(address + k) != code + k:
                    break
            else:
                return code >> _BYTE_BITS
        return self._pieces(address, size)

    def _pieces(self, address: int, size: int) -> Term | None:
        whole: Term | None = None
        for k in range(size):
            part = self.byte(address + k)
            if part is None:
                return None
            whole = part if whole is None else self.terms.concat(part, whole)
        return whole

    def unknown_runs(self, address: int, size: int) -> list[tuple[int, int]]:
        """(offset, length) of each run of unknown bytes in a range."""
        runs: list[tuple[int, int]] = []
        for k in range(size):
            if self._code(address + k) >= 0:
                continue
            if runs and sum(runs[-1]) == k:
                runs[-1] = (runs[-1][0], runs[-1][1] + 1)
            else:
                runs.append((k, 1))
        return runs

    def forget(self, address: int, length: int) -> None:
        """The bytes were written by something that gave no terms."""
        cells = self._bytes
        if self._journals:
            self._remember(range(address, address + length) if length <= MOST_MARKED else list(cells))
        if length <= MOST_MARKED:
            for place in range(address, address + length):
                cells[place] = UNKNOWN
            return
        self._forgotten.append((address, address + length))
        for place in [p for p in cells if address <= p < address + length]:
            cells[place] = UNKNOWN

    def copy(self, target: int, source: int, length: int) -> None:
        """As memmove."""
        codes = [self._code(source + k) for k in range(length)]
        if self._journals:
            self._remember(range(target, target + length))
        for k, code in enumerate(codes):
            self._bytes[target + k] = code

    def fill(self, address: int, byte: Term, length: int) -> None:
        """As memset."""
        code = byte << _BYTE_BITS
        if self._journals:
            self._remember(range(address, address + length))
        for place in range(address, address + length):
            self._bytes[place] = code

    def _code(self, address: int) -> int:
        code = self._bytes.get(address)
        if code is None:
            code = UNKNOWN
            if not any(start <= address < end for start, end in self._forgotten):
                term = self._initial(address)
                code = UNKNOWN if term is None else term << _BYTE_BITS
            self._bytes[address] = code
        return code

    # ---- Going back --------------------------------------------------------------------------------------------------

    def mark(self) -> None:
        """Note what bytes hold now, before they change; marks nest."""
        self._journals.append({})

    def undo(self) -> dict[int, int]:
        """Go back to the last mark; the answer is what each byte that had changed since held at the end, as codes."""
        cells, journal = self._bytes, self._journals.pop()
        changed = {place: cells[place] for place in journal}
        for place, code in journal.items():
            if code is None:
                del cells[place]
            else:
                cells[place] = code
        return changed

    def put(self, codes: dict[int, int]) -> None:
        """Let bytes hold codes."""
        if self._journals:
            self._remember(codes)
        self._bytes.update(codes)

    def code(self, address: int) -> int:
        """What a byte holds, as a code."""
        return self._code(address)

    def code_of(self, term: Term) -> int:
        """The code of a term's first byte; that of the next one is one more."""
        return term << _BYTE_BITS

    def follows(self, code: int, other: int) -> bool:
        """Whether a byte is the next one of the same term."""
        return other == code + 1 and code != UNKNOWN

    def part(self, code: int, length: int) -> Term:
        """The term of so many bytes, the first of which has this code, and each other the next one."""
        return self.terms.extract(code >> _BYTE_BITS, 8 * (code & _BYTE_MASK), 8 * length)

    def _remember(self, places: Iterable[int]) -> None:
        """Before bytes are changed."""
        cells, journal = self._bytes, self._journals[-1]
        for place in places:
            if place not in journal:
                journal[place] = cells.get(place)
