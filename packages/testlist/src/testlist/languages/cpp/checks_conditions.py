"""Checks as C++ writes them in a condition: `a == b && !c`, `a == Approx(b)`, `a.empty()`."""

import re
from collections.abc import Iterator
from typing import Final

from testlist.kit.bodies import OPPOSITES, CheckFact
from testlist.kit.checking import NOTHING, Part, is_certain, made
from testlist.languages.cpp.checks_source import Source, literal
from testlist.languages.cpp.facts_arguments import Span
from testlist.languages.cpp.vocabulary_checks import (
    FUNCTIONS,
    LENGTHS,
    OPERATORS,
    STATES,
    TRUTHS,
)

#: brackets, and operators that bind more loosely than what they compare
SIGN: Final = re.compile(
    rb"(?<=\w)<[\w:,\s*&]{1,80}+>(?=[({:])|[(\[{]|[)\]}]|->\*?|<<=?|>>=?|<=>|&&|\|\||==|!=|<=|>=|<|>|\?|[-+*/%^|&]?="
)
JOINTS: Final = (b"&&", b"||")
FIRM: Final = (b"==", b"!=", b"<=", b">=")
NUMBER: Final = re.compile(rb"[-+]?\d[\w.']*|'(?:[^'\\]|\\.)+'|\.\d\w*")
LIST: Final = re.compile(rb"(?:std::)?(?:[\w:]+(?:<[\w:, ]+>)?)?\{[\s\w\"'.,-]*\}")
#: conditions in brackets, one inside of the other
DEEPEST: Final = 20


def conditions(source: Source, span: Span, where: int, *, negated: bool = False, depth: int = 0) -> Iterator[CheckFact]:
    """What has to hold, or must not."""
    if depth > DEEPEST:
        return
    span = trimmed(source, span)
    signs = list(_signs(source, span))
    joints = {sign for _, sign in signs if sign in JOINTS}
    if joints == {b"||" if negated else b"&&"} and _is_split(source, span, signs):
        begin = span[0]
        for at, sign in [*signs, (span[1], b"&&")]:
            if sign in JOINTS:
                yield from conditions(source, (begin, at), where, negated=negated, depth=depth + 1)
                begin = at + 2
    elif not joints and (inner := _inner(source, span)) is not None:
        yield from conditions(source, inner[0], where, negated=negated != inner[1], depth=depth + 1)
    elif not joints and (found := _operator(signs)) is not None:
        at, sign = found
        yield compared(source, (span[0], at), OPERATORS[sign], (at + len(sign), span[1]), where, negated=negated)
    else:
        yield _true(source, span, where, negated=negated)


def trimmed(source: Source, span: Span) -> Span:
    """Without blanks around it."""
    code = source.code(span)
    text = source.masked.source
    left = next((n for n in range(len(code)) if not text[span[0] + n : span[0] + n + 1].isspace()), len(code))
    right = next((n for n in range(len(code), left, -1) if not text[span[0] + n - 1 : span[0] + n].isspace()), left)
    return span[0] + left, span[0] + right


def _signs(source: Source, span: Span) -> Iterator[tuple[int, bytes]]:
    """Operators that stand in no bracket, with their offsets."""
    depth = 0
    for found in SIGN.finditer(source.masked.code, *span):
        if found[0] in (b"(", b"[", b"{"):
            depth += 1
        elif found[0] in (b")", b"]", b"}"):
            depth -= 1
        elif depth == 0 and len(found[0]) < 4:  # longer ones are arguments of a template
            yield found.start(), found[0]


def _is_split(source: Source, span: Span, signs: list[tuple[int, bytes]]) -> bool:
    """Whether the parts between `&&` are expressions, and none of them is the argument of a template."""
    begin = span[0]
    for at, sign in [*signs, (span[1], b"&&")]:
        if sign in JOINTS:
            code = source.code((begin, at)).replace(b"->", b"  ")
            if not code.strip() and not source.part((begin, at)).text:
                return False
            if (code.count(b"<") > code.count(b">") + 1) or code.rstrip().endswith((b"<", b",")):
                return False
            begin = at + 2
    return not any(sign == b"?" for _, sign in signs)


def _inner(source: Source, span: Span) -> tuple[Span, bool] | None:
    """What stands in brackets that hold all of it, or behind `!`; and whether it is turned."""
    code = source.code(span)
    if code[:1] == b"!" and code[1:2] != b"=" and not any(sign in OPERATORS for _, sign in _signs(source, span)):
        return (span[0] + 1, span[1]), True
    if code[:1] == b"(" and code[-1:] == b")":
        depth = 0
        for place, byte in enumerate(code):
            depth += (byte == ord("(")) - (byte == ord(")"))
            if depth == 0:
                return ((span[0] + 1, span[1] - 1), False) if place == len(code) - 1 else None
    return None


def _operator(signs: list[tuple[int, bytes]]) -> tuple[int, bytes] | None:
    """The only comparison; None where `<` may begin the arguments of a template."""
    firm = [one for one in signs if one[1] in FIRM]
    if len(firm) == 1 and not any(sign == b"?" for _, sign in signs):
        return firm[0]
    loose = [one for one in signs if one[1] in (b"<", b">")]
    return loose[0] if len(loose) == 1 and not firm and not any(sign == b"?" for _, sign in signs) else None


def compared(
    source: Source, left: Span, operator: tuple[str, bool], right: Span, where: int, *, negated: bool = False
) -> CheckFact:
    """One comparison; what is written out is what is expected, on whichever side it stands."""
    relation, turned = operator
    negated = negated != turned
    if negated and relation in OPPOSITES:
        relation, negated = OPPOSITES[relation], False
    left, right = trimmed(source, left), trimmed(source, right)
    if relation == "equal" and is_written(source.part(left)) and not is_written(source.part(right)):
        left, right = right, left
    if relation == "equal" and (check := _special(source, left, right, where, negated=negated)) is not None:
        return check
    sides = source.part(left), source.part(right)
    check = made(where, relation, *sides, negated=negated, literal=literal)
    if relation == "equal" and is_certain(literal(sides[0]), literal(sides[1]), negated=negated):
        check["idle"] = "constant"
    return check


def _special(source: Source, left: Span, right: Span, where: int, *, negated: bool) -> CheckFact | None:
    """`a == nullptr`, `a.size() == 3`, `a == Approx(b)`."""
    if source.part(right).text in (b"nullptr", b"NULL", b"std::nullopt", b"absl::nullopt"):
        return made(where, "none", source.part(left), negated=negated, literal=literal)
    for one, other in ((left, right), (right, left)):
        call = source.call(one)
        if call is not None and call[1] in LENGTHS and not call[2] and one is left:
            owner = Part(re.sub(rb"(?:\.|->)$", b"", call[0].encode()))
            return made(where, "length", owner, source.part(other), negated=negated, literal=literal)
        if b"Approx(" in source.code(one) and (found := re.match(rb"(?:[\w:]+::)?Approx\s*\(", source.code(one))):
            given = source.given(one[0] + found.end() - 1)
            expected = source.part(given[0]) if given else None
            return made(where, "approximate", source.part(other), expected, negated=negated, literal=literal)
    return None


def _true(source: Source, span: Span, where: int, *, negated: bool) -> CheckFact:
    whole = source.part(span)
    call = source.call(span)
    if call is not None:
        owner, name, given = call
        holder = Part(re.sub(r"(?:\.|->)$", "", owner).encode())
        is_method = owner.endswith((".", "->"))
        if is_method and not given and name in STATES:
            relation, turned = STATES[name]
            return made(where, relation, holder, negated=negated != turned, literal=literal)
        if is_method and len(given) == 1 and name in TRUTHS:
            return made(where, TRUTHS[name], holder, source.part(given[0]), negated=negated, literal=literal)
        if not is_method and len(given) == 2 and name in FUNCTIONS:
            sides = [source.part(one) for one in given]
            return made(where, FUNCTIONS[name], sides[0], sides[1], negated=negated, literal=literal)
    check = made(where, "truthy", whole, negated=negated, literal=literal)
    if literal(whole) is (not negated):
        check["idle"] = "constant"
    return check


def is_written(part: Part) -> bool:
    """Whether a value is written out."""
    if literal(part) is not NOTHING or NUMBER.fullmatch(part.text):
        return True
    return (part.text.startswith((b'"', b'R"')) and part.text.endswith(b'"')) or LIST.fullmatch(part.text) is not None
