"""What the scripts of a package.json start, and what they give to it."""

import shlex
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

MANAGERS: Final = frozenset({"npm", "yarn", "pnpm"})
#: programs whose words are tasks, files or text, and start no runner of that name
NAMING: Final = frozenset(
    {"grunt", "gulp", "make", "echo", "cd", "rm", "rimraf", "cp", "mkdir", "eslint", "prettier", "tsc", "webpack",
     "rollup", "lerna", "nx", "turbo", "run-s", "run-p", "npm-run-all", "xo", "standard", "karma"}
)  # fmt: skip
#: letters of a script whose words are kept, as each runner asks for them; and of one that is read at all
KEPT: Final = 1_000
LONGEST: Final = 5_000
SEPARATORS: Final = frozenset({"&&", "||", ";", "|", "&"})
#: file name suffixes a runner given a folder reads there
SUFFIXES: Final = "{js,cjs,mjs,ts,cts,mts,jsx,tsx}"


def commands(scripts: Any, program: str, *more: str) -> Iterator[list[str]]:
    """Words that follow a program on each command line, and what follows it there: `bun`, `test`.

    The program may have a path before it and other programs that start it.
    """
    entries = scripts if isinstance(scripts, dict) else {}
    # each runner asks, and reading words takes long
    if not any(isinstance(script, str) and program in script for script in entries.values()):
        return
    table = {name: script for name, script in entries.items() if isinstance(script, str) and len(script) <= LONGEST}
    for script in table.values():
        for words in expanded(script, table):
            names = [program_of(word) for word in words]
            if program in names and not elsewhere(words):
                given = words[names.index(program) + 1 :]
                if list(more) == given[: len(more)]:
                    yield given[len(more) :]


def elsewhere(words: list[str]) -> bool:
    """Whether a command line only names things: tasks, files, packages, other scripts."""
    return program_of(words[0]) in NAMING or (words[0] == "npm" and words[1:2] != ["exec"])


def expanded(script: str, table: Mapping[str, str]) -> Iterator[list[str]]:
    """Lines of a script, and of another that it runs with arguments: `npm run other -- arguments`."""
    for words in lines(script):
        yield words
        if "--" in words and words[0] in MANAGERS:
            before, given = words[1 : words.index("--")], words[words.index("--") + 1 :]
            other = next((table[word] for word in before if word in table), "")
            yield from ([*line, *given] for line in _last_line(other) if given)


def lines(script: str) -> Iterator[list[str]]:
    """Words of each command of a script."""
    line: list[str] = []
    for word in (_words if len(script) <= KEPT else _words.__wrapped__)(script):
        if word in SEPARATORS:
            yield line
            line = []
        else:
            line.append(word)


@lru_cache(maxsize=128)
def _last_line(script: str) -> list[list[str]]:
    """The last command of a script, to which it gives arguments; thousands of lines may run the same script."""
    return list(lines(script))[-1:]


@lru_cache(maxsize=1_024)
def _words(script: str) -> tuple[str, ...]:
    """Its words, with a separator behind them; none where quotes are unbalanced."""
    lexer = shlex.shlex(script, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return ()
    return *words, ";"


def operands(words: list[str], valued: frozenset[str]) -> list[str]:
    """What is left of a command line without its options.  valued: options followed by a value."""
    found: list[str] = []
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = not skip and word in valued
        else:
            found.append(word)
    return found


def values(words: list[str], *options: str) -> list[str]:
    """Values of options, written `--option value` or `--option=value`."""
    found = [after for word, after in pairwise(words) if word in options]
    return found + [word.partition("=")[2] for word in words if word.partition("=")[0] in options and "=" in word]


def is_loose(given: list[str]) -> bool:
    """Whether all operands are single files, which may load others."""
    return bool(given) and not any(
        set("*{?") & set(one) or "." not in one.rpartition("/")[2].strip(".") for one in given
    )


def files(operand: str, *, deep: bool = False) -> list[str]:
    """Patterns of an operand: a file or a pattern as it stands, or a folder, whose files are meant.

    deep: those of the folders in it too.
    """
    if "*" in operand.rpartition("/")[2] or "." in operand.rpartition("/")[2].strip("."):
        return [operand]
    inside = f"**/*.{SUFFIXES}" if deep else f"*.{SUFFIXES}"
    return [operand, f"{operand.rstrip('/')}/{inside}"]


def program_of(word: str) -> str:
    """Name of a program without its folder, suffix, version and a leading underscore."""
    name = word.rpartition("/")[2].partition("@")[0]
    return name.removesuffix(".js").removesuffix(".mjs").removeprefix("_")
