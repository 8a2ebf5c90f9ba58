"""Rewrite a crate so that its tests write down which checks they ran: what checks of Rust are compared with.

    python packages/testlist/tools/executed_checks_rust/rewrite.py CRATE
    EXECUTED_CHECKS=OUT.jsonl EXECUTED_CHECKS_ROOT=WORKSPACE cargo test --lib --tests -- --test-threads=1

CRATE holds Cargo.toml, and is written over; no line moves.  Its dependencies that are optional, or that only tests
have, are left out, but for those of tests that are named behind it.  Files of `tests`, and modules below
`#[cfg(test)]`, get macros that note and then are those of the language; one that the crate has by such a name itself
notes too.  A test that returns an error counts as passed.
"""

import re
import sys
from pathlib import Path
from typing import Final

CRATE: Final = Path(__file__).resolve().parent
ASSERTS: Final = ("assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne")
NOTE: Final = "extern crate executed_checks; executed_checks::note(file!(), line!());"
SHADOWED: Final = " ".join(
    f"#[allow(unused_macros)] macro_rules! {name} {{ ($($given:tt)*) => {{{{ {NOTE} ::core::{name}!($($given)*) }}}} }}"
    for name in ASSERTS
)
#: dependencies of no target, which only bind versions
UNUSED: Final = "[target.'cfg(any())'"
#: one that the crate has instead
OWN: Final = re.compile(rf"macro_rules! (?:{'|'.join(ASSERTS)}) \{{\n\s*\([^\n]*\) => \{{\{{")
#: a module of tests, in the file or in one of its own
MODULE: Final = re.compile(
    r"#\[cfg\((?:all\()?test\b[^\n]*\]\s*(?:#\[[^\n]*\]\s*)*(?:pub(?:\([a-z]+\))?\s+)?mod\s+(\w+)\s*([{;])"
)
INNER: Final = re.compile(r"\A(?:\s+|//[^\n]*\n|/\*.*?\*/|#!\[[^\]]*(?:\[[^\]]*\][^\]]*)*\])*", re.DOTALL)
TEST: Final = re.compile(
    r"#\[test\]\s*((?:#\[[^\n]*\]\s*|//[^\n]*\n\s*)*)(?:pub\s+)?(?:unsafe\s+)?fn\s+(\$?\w+)\s*\(\s*\)\s*(?:->[^{]*)?\{"
)
NEAR: Final = 400
BEFORE: Final = re.compile(r"#\[should_panic[^\n]*\]\s*(?:#\[[^\n]*\]\s*)*\Z")


def main(crate: Path, kept: list[str]) -> None:
    """The command."""
    manifest = crate / "Cargo.toml"
    manifest.write_text(without_others(manifest.read_text(), kept))
    whole = set(crate.glob("tests/**/*.rs"))
    for path in sorted(crate.glob("src/**/*.rs")):
        source = path.read_text()
        for found in MODULE.finditer(source):
            if found[2] == ";":
                folder = path.parent if path.stem in ("lib", "main", "mod") else path.with_suffix("")
                whole |= {one for one in (folder / f"{found[1]}.rs", folder / found[1] / "mod.rs") if one.exists()}
                whole |= set((folder / found[1]).glob("**/*.rs"))
        if path not in whole:
            marked = MODULE.sub(lambda one: one[0] + (SHADOWED if one[2] == "{" else ""), source)
            path.write_text(begun(marked, "" if marked != source else SHADOWED))
    for path in sorted(whole):
        source = path.read_text()
        at = INNER.match(source).end()  # type: ignore[union-attr]  # it matches nothing, too
        path.write_text(begun(source[:at] + SHADOWED + " " + source[at:]))


def begun(source: str, shadowed: str = "") -> str:
    """A file whose tests say that they begin.  shadowed: macros for each, where no module has them."""

    def one(found: re.Match[str]) -> str:
        before = BEFORE.search(source, max(0, found.start() - NEAR), found.start())
        at = found.start(1) + found[1].find("should_panic") if "should_panic" in found[1] else before and before.start()
        panics = 0 if at is None else source.count("\n", 0, at) + 1
        told = f"executed_checks::begin(file!(), line!(), stringify!({found[2]}), {panics})"
        return f"{found[0]} let _ended = {{ extern crate executed_checks; {told} }}; {shadowed}"

    return TEST.sub(one, OWN.sub(lambda found: f"{found[0]} {NOTE}", source))


def without_others(manifest: str, kept: list[str]) -> str:
    """A manifest with this crate as the only dependency of tests, beside those that are kept."""
    parts = re.split(r"(?m)^(?=\[)", manifest)
    others = re.compile(r"\[(?:target\..*\.)?dev[-_]dependencies(?:\.([\w-]+))?\]|\[\[bench\]\]")
    left = [part for part in parts if others.match(part) is None]
    lines = [line for part in parts if others.match(part) for line in part.splitlines()]
    wanted = [line for line in lines if line.partition("=")[0].strip() in kept]
    optional = re.compile(r"(?m)^([\w-]+) = \{[^}]*\boptional = true[^}]*\}\n")
    apart = re.compile(r"(?s)\[dependencies\.([\w-]+)\]\n.*^optional = true", re.MULTILINE)
    gone = {name for part in left for name in (*optional.findall(part), *apart.findall(part))}
    left = [optional.sub("", part) for part in left if not (part.startswith(UNUSED) or apart.match(part))]
    for name in gone:
        left = [re.sub(rf'"(?:dep:)?{name}(?:\??/[^"]*)?"(?:,\s*)?', "", part) for part in left]
    own = f'executed_checks = {{ path = "{CRATE.as_posix()}" }}'
    return "".join(left) + "\n" + "\n".join(["[dev-dependencies]", own, *wanted]) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
