"""What a macro_rules macro leaves behind: its body with what its pattern bound put in."""

from collections.abc import Sequence

from testlist.languages.rust.collect_patterns import Bindings, Budget, Repeated, match, repetition_at, variables
from testlist.languages.rust.shape import Tokens


def expand(rules: Sequence[Sequence[Tokens]], given: Tokens, budget: Budget) -> Tokens | None:
    """Tokens of the first rule that fits; None if none does.  rules: pattern and body, each as one group."""
    for left, right in rules:
        if not left or not right or not isinstance(left[0], list) or not isinstance(right[0], list):
            continue
        bindings = match(left[0][1:], given, budget)
        if bindings is not None:
            return fill(right[0][1:], bindings, budget)
    return None


def fill(body: Tokens, bindings: Bindings, budget: Budget) -> Tokens:
    """Put bindings in."""
    filled: Tokens = []
    index = 0
    while index < len(body):
        budget.spend()
        piece = body[index]
        if isinstance(piece, list):
            filled.append([piece[0], *fill(piece[1:], bindings, budget)])
        elif piece == "$":
            index += _variable(body, index, bindings, filled, budget)
            continue
        else:
            filled.append(piece)
        index += 1
    return filled


def _variable(body: Tokens, index: int, bindings: Bindings, filled: Tokens, budget: Budget) -> int:
    """Put in what stands behind one `$`; return how many tokens it took."""
    repetition = repetition_at(body, index)
    if repetition is not None:
        for number, turn in enumerate(_turns(repetition.inner, bindings, budget)):
            if number and repetition.separator is not None:
                filled.append(repetition.separator)
            filled += fill(repetition.inner, turn, budget)
        return repetition.end - index
    following = body[index + 1] if index + 1 < len(body) else None
    bound = bindings.get(following) if isinstance(following, str) else None
    if isinstance(bound, list):
        budget.spend(len(bound))
        filled += bound
        return 2
    if following == "crate":
        return 2
    filled.append("$")  # of a macro that this one defines
    return 1


def _turns(inner: Tokens, bindings: Bindings, budget: Budget) -> list[Bindings]:
    """Bindings of each turn of a repetition, by the variables it uses."""
    used = [bindings[name] for name in variables(inner) if name in bindings]
    repeated = [value for value in used if isinstance(value, Repeated)]
    if not repeated:
        return []
    turns: list[Bindings] = []
    for number in range(max(len(one.turns) for one in repeated)):
        budget.spend(len(bindings))
        turn = dict(bindings)
        for one in repeated:
            turn |= one.turns[number] if number < len(one.turns) else {}
        turns.append(turn)
    return turns
