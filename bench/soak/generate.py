"""Subjects from a seed: a C program of fragments, its inputs, what is right, and how its cases are told to Whence."""

from __future__ import annotations

import random
import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FRAGMENTS = Path(__file__).parent / "fragments"
HEADERS = """
assert complex errno fcntl float limits math pthread setjmp signal stdarg stdio stdlib string time unistd wchar alloca
sys/file sys/mman sys/prctl sys/ptrace sys/resource sys/socket sys/stat sys/time sys/un sys/wait
"""
LIMIT = 50  # an input above it reaches the wild fragment
CHANNELS = ("arguments", "arguments", "stdin", "file")
FORMS = ("options", "options", "folder", "file", "command")
ORACLES = ("output", "output", "status")
FILE_NAMES = (
    *("prog.c", "prog.c", "odd name.c", "caf\u00e9.c", "-dash.c"),
    *("semi;colon.c", "dollar$x.c", "a" * 120 + ".c", "%s.c"),
)
ODD_ARGUMENTS = (
    *(
        "",
        "-",
        "--",
        "--fails",
        "%n%s",
        "*",
        "~",
        "$HOME",
        "`x`",
        "a\nb",
        "\t",
        "\u00e9\u4e2d",
        "\udcff\udcfe",
        "'q'",
        '"',
    ),
    *("x" * 300, "y" * 5000, "z/" * 200, "../..", "/dev/null", "\x1b[31m", "\\", "a=b", "<", ">"),
)
TIME_LIMITS = (0.3, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Input:
    """One run's numbers, and arguments behind them that the program does not read."""

    numbers: tuple[int, ...]
    odd: tuple[str, ...]

    @property
    def fails(self) -> bool:
        """Whether it reaches the wild fragment."""
        return any(number > LIMIT for number in self.numbers)


@dataclass(frozen=True, slots=True)
class Generated:
    """A subject: the program, the same without its wild fragment (which says what is right), and its cases."""

    seed: int
    fragments: tuple[str, ...]  # names; the last one is the wild one
    text: str
    right: str
    source: str  # the file's name
    channel: str
    form: str
    oracle: str
    inputs: tuple[Input, ...]
    time: float  # seconds, the limit of a run

    @property
    def failing(self) -> list[Input]:
        """The inputs whose runs reach the wild fragment."""
        return [one for one in self.inputs if one.fails]

    @property
    def passing(self) -> list[Input]:
        """The others."""
        return [one for one in self.inputs if not one.fails]

    def line(self, index: int) -> str:
        """The command line of an input as in a shell, with files by their names from ``input_files``.

        A file of cases holds one a line, so that line breaks become blanks there.
        """
        one = self.inputs[index]
        numbers = [str(number) for number in one.numbers]
        words = {"arguments": numbers, "stdin": [], "file": [f"input{index}.txt"]}[self.channel]
        line = " ".join(shlex.quote(word) for word in (*words, *one.odd))
        line = line.replace("\n", " ") if self.form == "file" else line
        return f"{line} < input{index}.txt" if self.channel == "stdin" else line

    def input_files(self) -> Iterator[tuple[str, str]]:
        """Names and texts of the files that the command lines name."""
        for index, one in enumerate(self.inputs):
            if self.channel != "arguments":
                yield f"input{index}.txt", "".join(f"{number}\n" for number in one.numbers)


def generate(seed: int) -> Generated:
    """The subject of a seed: always the same one for the same fragments.

    Wild fragments take turns, so that consecutive seeds have different ones.
    """
    dice = random.Random(seed)
    wild = _turns()
    calm = dice.sample(sorted(name for name, kind in kinds().items() if kind == "calm"), dice.randint(1, 4))
    chosen = (*calm, wild[seed % len(wild)])
    channel, constants = dice.choice(CHANNELS), [dice.randint(3, 30) for _ in chosen]
    loop = dice.random() < 0.3
    return Generated(
        seed,
        chosen,
        program(chosen, constants, channel, loop),
        program(chosen, constants, channel, loop, wild=False),
        dice.choice(FILE_NAMES),
        channel,
        dice.choice(FORMS),
        dice.choice(ORACLES),
        tuple(_inputs(dice)),
        dice.choice(TIME_LIMITS),
    )


def _turns() -> list[str]:
    """The names of the wild fragments in the order in which seeds have them."""
    wild = sorted(name for name, kind in kinds().items() if kind != "calm")
    random.Random("turns").shuffle(wild)
    return wild


def seed_of(wild: str) -> int:
    """The first seed whose subject has this wild fragment."""
    return _turns().index(wild)


def _inputs(dice: random.Random) -> Iterator[Input]:
    """One to three failing inputs, and none to five passing ones."""
    for fails in [True] * dice.choice([1, 1, 2, 3]) + [False] * dice.choice([0, 1, 2, 3, 5]):
        numbers = [dice.randint(-9, LIMIT) for _ in range(dice.randint(1, 4))]
        if fails:
            numbers[dice.randrange(len(numbers))] = LIMIT + dice.randint(1, 49)
        odd = dice.sample(ODD_ARGUMENTS, dice.randint(1, 3)) if dice.random() < 0.3 else []
        yield Input(tuple(numbers), ("end", *odd) if odd else ())


# ---- The program -----------------------------------------------------------------------------------------------------


@cache
def _fragments() -> dict[str, tuple[str, str]]:
    """The kind and the text of each fragment."""
    found = {}
    for path in sorted(FRAGMENTS.glob("*.c")):
        for part in re.split(r"^//// ", path.read_text(), flags=re.M)[1:]:
            name, _, text = part.partition("\n")
            found[name.strip()] = path.stem, text
    return found


def kinds() -> dict[str, str]:
    """The kind of each fragment, ``calm`` or the name of another file of ``fragments/``."""
    return {name: kind for name, (kind, _) in _fragments().items()}


READERS = {
    "arguments": """\
    for (int i = 1; i < argc && strcmp(argv[i], "end"); i++)
        step(strtol(argv[i], NULL, 10));""",
    "stdin": """\
    long n;
    (void)argc, (void)argv;
    while (scanf("%ld", &n) == 1)
        step(n);""",
    "file": """\
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    char line[64];
    if (!file)
        return 2;
    while (fgets(line, sizeof line, file))
        step(atol(line));
    fclose(file);""",
}


def program(names: tuple[str, ...], constants: list[int], channel: str, loop: bool, wild: bool = True) -> str:
    """The C text of a program: it runs calm fragments on each number, and the last, wild one on large ones."""
    headers = "\n".join(f"#include <{name}.h>" for name in HEADERS.split())
    *calm, last = names
    shown = zip(names if wild else calm, constants, strict=False)
    texts = [f"#undef K\n#define K {constant}\n{_fragments()[name][1]}" for name, constant in shown]
    steps = [f"    total += {name}(n);" for name in calm]
    if wild:
        steps.append(f"    if (n > LIMIT)\n        total += {last}(n);")
    if loop:
        inner = [textwrap.indent(step, "    ") for step in steps]
        steps = ["    for (int i = 0; i < 3; i++) {", *inner, "        n--;", "    }"]
    return f"""\
#define _GNU_SOURCE
{headers}
#define LIMIT {LIMIT}

{"".join(texts)}
static long total;

static void step(long n)
{{
{chr(10).join(steps)}
    printf("%ld: %ld\\n", n, total);
}}

int main(int argc, char **argv)
{{
{READERS[channel]}
    printf("total %ld\\n", total);
    return 0;
}}
"""
