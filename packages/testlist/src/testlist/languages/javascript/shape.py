"""The facts of a JavaScript or TypeScript file, as they pass from the parsing child to the engine."""

from typing import NotRequired, TypedDict, cast, final

from testlist.model import Facts

#: a name that is known where it is defined: root, modifiers, whether it has to be called, which argument is the title
#: (see Callee); in JSON a list of four
Handed = tuple[str, list[str], bool, int]
#: a name of another file: its module, and the name there
Elsewhere = TypedDict("Elsewhere", {"from": str, "name": str})
#: name -> what a file hands on by it; the name `*` -> a module that is handed on as a whole
Exports = dict[str, Handed | Elsewhere | str]


@final
class Remark(TypedDict):
    """A call that speaks of the suite it stands in, and can be nothing else.  when: a condition decides."""

    says: str
    when: NotRequired[bool]


@final
class CallFact(TypedDict):
    """A call that registers a suite or a test.  line, column, end: 1-based.

    root, mods: as of its Callee; a root that begins with `@` is a name from another file.  title: as it is shown;
    form: what came instead of one, if none did; at: the place of the title, if it is not the first argument.
    body: it was given something to run; options: keys that are set; outer: suites that it names.  loop: it stands in
    a loop; when: a condition decides.  sub: it is called on what is no known name; own: one of its members is none
    that runners know.  calls: those in a suite; subtests: those in a test; says: as of a Remark, for it may be one.
    """

    root: str
    mods: list[str]
    title: str
    line: int
    column: int
    end: int
    form: NotRequired[str]
    at: NotRequired[int]
    body: NotRequired[bool]
    options: NotRequired[list[str]]
    outer: NotRequired[list[str]]
    loop: NotRequired[bool]
    when: NotRequired[bool]
    sub: NotRequired[bool]
    own: NotRequired[bool]
    calls: NotRequired[list["Call"]]
    subtests: NotRequired[list["Call"]]
    says: NotRequired[str]


Call = CallFact | Remark


class JavaScriptFacts(TypedDict, total=False):
    """One file.

    imports: modules; uses: objects that identify a runner.  borrowed: name -> (module, name there), of names from other
    files that a call may register tests by; it holds the `calls` in it in case it is none.
    """

    calls: list[Call]
    imports: list[str]
    uses: list[str]
    borrowed: dict[str, tuple[str, str]]
    exports: Exports


def shape(facts: Facts) -> JavaScriptFacts:
    """Facts by their types."""
    return cast(JavaScriptFacts, facts)
