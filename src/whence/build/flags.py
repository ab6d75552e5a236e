"""What a compiler command line asks for, read as clang's driver reads it.
 Key idea: the user's command itself is never rebuilt, it runs as it came. It is only *understood*, to know
which C sources it compiles, where their objects go, and how to compile each of them once more into IR. A
command line that is not understood is thus compiled correctly, and at worst not captured.

This module is imported by ``whence-cc`` on every compiler call, hence no dataclass and no ``pathlib`` here.
"""
# ruff: noqa: PTH118, PTH119, PTH122, PTH123

from __future__ import annotations

import os

# Options whose value is the next word when it is not joined to them.
_WITH_VALUE_WORDS = (
    "-o -I -D -U -L -l -x -T -u -z -e -h -B -F -A -G -include -imacros -isystem -iquote -idirafter "
    "-isysroot -iprefix -iwithprefix -iwithprefixbefore -include-pch -ivfsoverlay -MF -MT -MQ -MJ -Xlinker "
    "-Xclang -Xassembler -Xpreprocessor -Xanalyzer -mllvm -arch -target --target --sysroot --param -aux-info "
    "-dumpdir -dumpbase -dumpbase-ext -rpath -soname -working-directory -serialize-diagnostics "
    "--serialize-diagnostics -dependency-file --include --entry --output"
)
_WITH_VALUE = frozenset(_WITH_VALUE_WORDS.split())

# Whatever holds one of these produces no object that could become part of a program.
_NOT_A_BUILD_WORDS = (
    "-E -S -M -MM -### -fsyntax-only -emit-llvm -emit-ast --analyze --precompile -cc1 -cc1as --version "
    "-dumpversion -dumpmachine --help -help -fdriver-only"
)
_NOT_A_BUILD = frozenset(_NOT_A_BUILD_WORDS.split())

CPLUSPLUS = (".C", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".CPP", ".CC", ".ii")

_LANGUAGES = {
    **dict.fromkeys((".c", ".i"), "c"),
    **dict.fromkeys((".s", ".S", ".sx", ".asm"), "assembly"),
    **dict.fromkeys((".h", ".H", ".hh", ".hpp", ".hxx", ".pch", ".gch"), "header"),
    **dict.fromkeys((*CPLUSPLUS, ".m", ".mm", ".M"), "foreign"),
    **dict.fromkeys((".ll", ".bc", ".zig", ".cu", ".f", ".F", ".f90", ".F90", ".d"), "foreign"),
}
_X_LANGUAGES = {"c": "c", "cpp-output": "c", "assembler": "assembly", "assembler-with-cpp": "assembly"}


class Input:
    """An input file: its ``position`` in the arguments, ``path`` as given, ``kind``, and the ``-x`` in force.

    ``kind`` is ``c``, ``assembly``, ``header``, ``foreign`` (a source in another language) or ``object`` (all
    that goes to the linker).
    """

    __slots__ = ("kind", "language", "path", "position")

    def __init__(self, position: int, path: str, language: str) -> None:
        self.position = position
        self.path = path
        self.language = language
        self.kind = _kind(path, language)

    def absolute(self, directory: str) -> str:
        """The absolute path, for a compiler that ran in ``directory``; ``<stdin>`` for standard input."""
        return "<stdin>" if self.path == "-" else os.path.normpath(os.path.join(directory, self.path))

    @property
    def is_cplusplus(self) -> bool:
        """Whether it is a source in C++."""
        if self.language != "none":
            return self.language.startswith("c++")
        return self.path.endswith(CPLUSPLUS)

    def object_name(self) -> str:
        """The object that ``-c`` without ``-o`` writes for this source."""
        return os.path.splitext(os.path.basename(self.path))[0] + ".o"


class CommandLine:
    """A compiler call: ``arguments`` with response files expanded, ``inputs`` in order, ``output`` (``-o``).

    ``step`` is ``compile`` (``-c``), ``link``, or ``other`` for all that builds no part of a program.
    """

    __slots__ = ("arguments", "inputs", "options", "output", "step")

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = expand(arguments)
        self.inputs: list[Input] = []
        self.output: str | None = None
        self.options: list[tuple[int, int]] = []  # (first, last + 1) position of each option with its value
        self._read()
        self.step = self._step()

    def _read(self) -> None:
        language, position, words = "none", 0, self.arguments
        only_inputs = False
        while position < len(words):
            word, first = words[position], position
            position += 1
            if only_inputs or word == "-" or not word.startswith("-"):
                self.inputs.append(Input(first, word, language))
                continue
            if word == "--":
                only_inputs = True
            elif word in _WITH_VALUE and position < len(words):
                position += 1
            self.options.append((first, position))
            name, value = split_option(words[first:position])
            if name == "-x":
                language = value
            elif name == "-o":
                self.output = value

    def _step(self) -> str:
        if not self.inputs or any(kind == "header" for kind in (i.kind for i in self.inputs)):
            return "other"
        for first, _ in self.options:
            word = self.arguments[first]
            if word in _NOT_A_BUILD or word.startswith(("-print-", "--print-")):
                return "other"
        return "compile" if any(self.arguments[first] == "-c" for first, _ in self.options) else "link"

    @property
    def sources(self) -> list[Input]:
        """The inputs that are compiled or assembled."""
        return [i for i in self.inputs if i.kind != "object"]

    def ir_arguments(self, source: Input, output: str) -> list[str]:
        """Arguments that compile ``source`` of this call into unoptimised bitcode at ``output``.

        The user's preprocessor and language flags are kept. Optimisation, debug, dependency, instrumentation
        and linker flags are not: they would change the IR or write a second file. The stack protector's are: that it
        ends a program is part of what the program does.
        """
        kept: list[str] = []
        for first, last in self.options:
            kept += _ir_option(self.arguments[first:last])
        language = "cpp-output" if source.language == "cpp-output" or source.path.endswith(".i") else "c"
        return ["-fno-stack-protector", *kept, *IR_FLAGS, "-o", output, "-x", language, source.path]

    def object_arguments(self, source: Input, output: str) -> list[str]:
        """Arguments that make of ``source`` of this call, which has no IR, the object that the call itself makes."""
        kept: list[str] = []
        for first, last in self.options:
            words = self.arguments[first:last]
            if split_option(words)[0] not in _OBJECT_DROPPED_NAMES and not words[0].startswith(_OBJECT_DROPPED_STARTS):
                kept += words
        language = ["-x", source.language] if source.language != "none" else []
        return [*kept, "-w", "-Qunused-arguments", "-c", "-o", output, *language, source.path]

    def source_arguments(self, source: Input, output: str) -> list[str]:
        """Arguments that compile ``source`` of this call as it was, into ``output``, and write no second file."""
        kept: list[str] = []
        for first, last in self.options:
            words = self.arguments[first:last]
            name, _ = split_option(words)
            if name not in _IR_DROPPED_NAMES and not words[0].startswith(("-M", "-save-temps", "-Wp,", "-Wl,", "-Wa,")):
                kept += words
        return [*kept, "-o", output, source.path]


def without_werror(arguments: list[str]) -> list[str]:
    """A compiler call in which warnings that the user's options make errors are warnings again."""
    words = [word for word in arguments if word == "-Werror" or word.startswith("-Werror=")]
    position = arguments.index("--") if "--" in arguments else len(arguments)
    back = dict.fromkeys("-Wno-error" + word.removeprefix("-Werror") for word in words)
    return [*arguments[:position], *back, *arguments[position:]]


# The standards whose strict form is GNU's but for words, macros and trigraphs, which the newest ones have not.
_GNU = {"-ansi": "gnu89", "-std=iso9899:1990": "gnu90", "-std=iso9899:1999": "gnu99", "-std=iso9899:2011": "gnu11"}
_GNU |= {f"-std=c{year}": f"gnu{year}" for year in ("89", "90", "99", "9x", "11", "1x", "17", "18", "2x", "23")}
_STRICT = ("-fno-gnu-keywords", "-D__STRICT_ANSI__=1", "-Uunix", "-Ulinux")


def as_gnu(arguments: list[str]) -> list[str]:
    """A compiler call in strict C as one in GNU's C that differs in no word and no macro, or the call as it is.

    There a ``main`` that returns nothing is no error, as it is none to gcc.
    """
    standards = [word for word in arguments if word == "-ansi" or word.startswith("-std=")]
    gnu = _GNU.get(standards[-1]) if standards else None
    if gnu is None:
        return arguments
    trigraphs = [] if gnu in ("gnu2x", "gnu23") else ["-trigraphs"]
    position = arguments.index("--") if "--" in arguments else len(arguments)
    return [*arguments[:position], f"-std={gnu}", *_STRICT, *trigraphs, *arguments[position:]]


_INCLUDING = ("-iquote", "-I", "-isystem", "-idirafter")  # in the order in which they are looked in


def included_from(arguments: list[str], directory: str) -> list[str]:
    """The folders that a compiler call in ``directory`` looks for headers in, beside those that it knows by itself."""
    found: dict[str, list[str]] = {name: [] for name in _INCLUDING}
    words = iter(arguments)
    for word in words:
        name = next((name for name in _INCLUDING if word.startswith(name)), None)
        if name is not None:
            found[name].append(word[len(name) :] or next(words, "."))
    return [os.path.normpath(os.path.join(directory, folder)) for folders in found.values() for folder in folders]


def is_optimised(arguments: list[str]) -> bool:
    """Whether a compiler call asks for optimisation; the last option counts."""
    levels = [word for word in arguments if word.startswith("-O")]
    return bool(levels) and levels[-1] != "-O0"


OPTIMISED = "-D__OPTIMIZE__=1"  # what compilers define that optimise, and IR has not, so that calls stay calls

# DESIGN.md, decision 1. Warnings are silent here, since the plain compile shows them.
IR_FLAGS = (
    *("-g", "-O0", "-Xclang", "-disable-O0-optnone", "-Xclang", "-disable-llvm-passes"),  # ``ir.py`` inlines
    *("-fno-discard-value-names", "-ffp-contract=off"),
    *("-fno-sanitize=all", "-w", "-Qunused-arguments", "-emit-llvm", "-c"),
)

_IR_DROPPED_WORDS = (
    "-c -s -r -shared -static -rdynamic -pie -pg -v --verbose -Xlinker -Xassembler -o -x -l -L -T -u -z -e -h -aux-info"
)
_IR_DROPPED_NAMES = frozenset(_IR_DROPPED_WORDS.split())
_IR_DROPPED_STARTS_WORDS = (
    "-O -M -Wl, -Wa, -Werror -save-temps -fsanitize -fprofile -fcoverage --coverage -ftest-coverage "
    "-finstrument-functions -flto -fstack-usage -fsave-optimization-record -ftime-trace -ftime-report "
    "-fdebug-prefix-map -fdebug-compilation-dir -fdiagnostics-color -fxray "
    "-serialize-diagnostics --serialize-diagnostics -dependency-file"
)
_IR_DROPPED_STARTS = tuple(_IR_DROPPED_STARTS_WORDS.split())

# What writes further files, or is for the linker alone.
_OBJECT_DROPPED_NAMES = frozenset(("-c", "-o", "-x", "-l", "-L", "-T", "-Xlinker", "-v", "--verbose"))
_OBJECT_DROPPED_STARTS = ("-M", "-Wl,", "-save-temps", "-ftime-trace")


def _ir_option(words: list[str]) -> list[str]:
    """The words of one option as the IR compile gets them: as they are, changed, or none."""
    word = words[0]
    name, _ = split_option(words)
    if name in _IR_DROPPED_NAMES or word.startswith(_IR_DROPPED_STARTS):
        return []
    if word.startswith("-g") and not word.startswith("-gcc"):
        return []
    if word.startswith("-ffile-prefix-map="):  # of __FILE__, not of debug paths
        return ["-fmacro-prefix-map=" + word.partition("=")[2]]
    if word.startswith("-Wp,"):
        return _preprocessor_words(word)
    return words


def _preprocessor_words(word: str) -> list[str]:
    """``-Wp,`` without its dependency flags (``-Wp,-MD,file``, as automake and Linux write them)."""
    kept: list[str] = []
    words = iter(word.split(",")[1:])
    for part in words:
        if part in ("-MD", "-MMD", "-MF", "-MT", "-MQ"):
            next(words, None)
        elif not part.startswith("-M"):
            kept.append(part)
    return ["-Wp," + ",".join(kept)] if kept else []


def split_option(words: list[str]) -> tuple[str, str]:
    """An option's name and value, for values that are joined (``-Ifoo``) or the next word (``-I foo``)."""
    if len(words) == 2:
        return words[0], words[1]
    word = words[0]
    if word[:2] in ("-o", "-x", "-l", "-L", "-T") and len(word) > 2:
        return word[:2], word[2:]
    return word, ""


def _kind(path: str, language: str) -> str:
    extension = os.path.splitext(path)[1]
    if language != "none" and not language.endswith("header"):
        return _X_LANGUAGES.get(language, "foreign")
    return "header" if language != "none" else _LANGUAGES.get(extension, "object")


def expand(arguments: list[str], depth: int = 0) -> list[str]:
    """The arguments with each ``@file`` replaced by the words in that file (GNU quoting), files within files
    too.
    """
    if not any(a.startswith("@") for a in arguments):
        return arguments
    words: list[str] = []
    for argument in arguments:
        content = _response(argument) if depth < 20 else None
        words += [argument] if content is None else expand(split_words(content), depth + 1)
    return words


def _response(argument: str) -> str | None:
    if not argument.startswith("@"):
        return None
    try:
        with open(argument[1:], encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return None  # clang then takes the word as the name of an input, and complains itself


def split_words(text: str) -> list[str]:
    """The words of a response file: white space separates, quotes group, a backslash takes the next
    character.
    """
    words: list[str] = []
    word: str | None = None
    quote = ""
    characters = iter(text)
    for c in characters:
        if c == "\\":
            word = (word or "") + next(characters, "")
        elif quote:
            quote, word = ("", word) if c == quote else (quote, (word or "") + c)
        elif c in "'\"":
            quote, word = c, word or ""
        elif c.isspace():
            words += [word] if word is not None else []
            word = None
        else:
            word = (word or "") + c
    return words + ([word] if word is not None else [])
