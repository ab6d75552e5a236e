"""Random C types, each with the paths of all of its scalars; a program that says where and what these are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

SCALARS = ("char", "unsigned char", "short", "int", "unsigned", "long", "float", "double", "enum color", "int *")
NUMBERS = frozenset({"short", "int", "unsigned", "long"})  # whose values are shown as C prints them
DEPTH = 3


@dataclass(frozen=True)
class Leaf:
    """A scalar: what stands behind the object's name, whether it is a bit-field, whether its value is a number."""

    suffix: str
    is_bits: bool
    is_number: bool

    def behind(self, prefix: str) -> Leaf:
        return Leaf(prefix + self.suffix, self.is_bits, self.is_number)


@dataclass
class Types:
    """Makes types; ``definitions`` is what has to stand before their use."""

    random: Random
    definitions: list[str] = field(default_factory=list)
    count: int = 0

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def any(self, depth: int = DEPTH) -> tuple[str, list[Leaf]]:
        """A type as the text of a declaration with ``{}`` for the name, and its scalars."""
        kind = self.random.choice(("scalar", "array", "struct", "struct", "union")) if depth else "scalar"
        if kind == "scalar":
            scalar = self.random.choice(SCALARS)
            return scalar + " {}", [Leaf("", False, scalar in NUMBERS)]
        if kind == "array":
            inner, leaves = self.any(depth - 1)
            length = self.random.randint(1, 3)
            found = [leaf.behind(f"[{index}]") for index in range(length) for leaf in leaves]
            return inner.replace("{}", f"{{}}[{length}]"), found
        return self.named_struct(kind, depth)

    def named_struct(self, kind: str = "struct", depth: int = DEPTH) -> tuple[str, list[Leaf]]:
        """A structure or union with a tag."""
        tag = self.name("T")
        text, leaves = self.members(kind, depth)
        self.definitions.append(f"{kind} {tag} {{ {text}}};")
        return f"{kind} {tag} {{}}", leaves

    def members(self, kind: str, depth: int) -> tuple[str, list[Leaf]]:
        parts, found = [], []
        for _ in range(self.random.randint(1, 3)):
            name = self.name("m")
            if self.random.random() < 0.2:
                width = self.random.randint(1, 15)
                parts.append(f"unsigned {name} : {width}; ")
                found.append(Leaf(f".{name}", True, True))
            elif self.random.random() < 0.2 and depth > 1:
                inner = self.random.choice(("struct", "union"))
                text, leaves = self.members(inner, depth - 1)
                parts.append(f"{inner} {{ {text}}}; ")
                found += leaves
            else:
                text, leaves = self.any(depth - 1)
                parts.append(f"{text.format(name)}; ")
                found += [leaf.behind(f".{name}") for leaf in leaves]
        return "".join(parts), found


PROLOGUE = """enum color { RED, GREEN, BLUE = 7 };
static unsigned long seed = 88172645463325252;
static void fill(void *what, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        ((unsigned char *)what)[i] = seed >> 11;
    }
}
"""

PUSH = """static struct node *push(struct node *next)
{
    struct node *made = malloc(sizeof *made);
    fill(made, sizeof *made);
    made->next = next;
    return made;
}"""


def program(number: int) -> str:
    """A program with random variables and blocks; at its point it calls ``dump``, having printed of each scalar a line:
    path, address (0 of a bit-field), size, and the value where that is a number (else ``-``).
    """
    types = Types(Random(number))
    static, main, inner, blocks = [], [], [], []
    shown_main, shown_inner = [], []
    for where, shown in ((static, shown_main), (main, shown_main), (inner, shown_inner)):
        for _ in range(2):
            text, leaves = types.any()
            name = types.name("v")
            where.append(f"{text.format(name)};")
            shown += [f"fill(&{name}, sizeof {name});", *(_show(leaf.behind(name)) for leaf in leaves)]
    for length in (1, 3):
        text, leaves = types.named_struct()
        name = types.name("p")
        size = f"{length} * sizeof *{name}"
        blocks.append(f"{text.format(f'*{name}')} = malloc({size}); fill({name}, {size});")
        heads = [name + "->"] if length == 1 else [f"{name}[{index}]." for index in range(length)]
        shown_main += [_show(replace(leaf, suffix=head + leaf.suffix[1:])) for head in heads for leaf in leaves]
    text, leaves = types.any(2)
    types.definitions.append(f"struct node {{ {text.format('data')}; struct node *next; }};")
    for depth in range(3):
        path = "list->" + "next->" * depth
        shown_main += [_show(leaf.behind(f"{path}data")) for leaf in leaves]
    lines = [
        *types.definitions,
        PUSH,
        *(f"static {text}" for text in static),
        "static void inner(void)\n{",
        *inner,
        *shown_inner,
        "fflush(stdout); dump();\n}",
        "int main(void)\n{",
        *main,
        *blocks,
        "struct node *list = push(push(push(NULL)));",
        *shown_main,
        "inner();\nreturn 0;\n}",
    ]
    return PROLOGUE + "\n".join(lines) + "\n"


def _show(leaf: Leaf) -> str:
    path = leaf.suffix
    place = "(void *)0, (size_t)0" if leaf.is_bits else f"(void *)&({path}), sizeof({path})"
    if leaf.is_number:
        return f'printf("%s %p %zu %ld\\n", "{path}", {place}, (long)({path}));'
    return f'printf("%s %p %zu -\\n", "{path}", {place});'
