"""What a test checks, in words: a sentence for each check, and why a test cannot fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from app.web.core.languages import lazy_gettext

#: Whether a test checks something, for the filter.
CHECKED = {
    "some": lazy_gettext("something"),
    "none": lazy_gettext("nothing"),
    "unknown": lazy_gettext("not known"),
}
#: Why a test passes whatever the code does.
CANNOT_FAIL = {
    "empty": lazy_gettext("checks nothing: the body is empty"),
    "no_check": lazy_gettext("checks nothing: no part of it can fail"),
    "constant": lazy_gettext("checks nothing: it compares only constants"),
    "unreachable": lazy_gettext("checks nothing: its checks are never reached"),
    "ignored": lazy_gettext("checks nothing: every failure is caught"),
}
#: Why one check decides nothing.
IDLE = {
    "constant": lazy_gettext("decides nothing: it compares constants"),
    "unreachable": lazy_gettext("decides nothing: it is never reached"),
    "ignored": lazy_gettext("decides nothing: its failure is caught"),
}
#: A check with what is expected, and the same where it must not hold.
EXPECTED = {
    "equal": (
        lazy_gettext("%(subject)s equals %(expected)s"),
        lazy_gettext("%(subject)s does not equal %(expected)s"),
    ),
    "identical": (
        lazy_gettext("%(subject)s is %(expected)s itself"),
        lazy_gettext("%(subject)s is not %(expected)s itself"),
    ),
    "approximate": (
        lazy_gettext("%(subject)s is about %(expected)s"),
        lazy_gettext("%(subject)s is not about %(expected)s"),
    ),
    "greater": (
        lazy_gettext("%(subject)s is greater than %(expected)s"),
        lazy_gettext("%(subject)s is not greater than %(expected)s"),
    ),
    "greater_equal": (
        lazy_gettext("%(subject)s is at least %(expected)s"),
        lazy_gettext("%(subject)s is not at least %(expected)s"),
    ),
    "less": (
        lazy_gettext("%(subject)s is less than %(expected)s"),
        lazy_gettext("%(subject)s is not less than %(expected)s"),
    ),
    "less_equal": (
        lazy_gettext("%(subject)s is at most %(expected)s"),
        lazy_gettext("%(subject)s is not at most %(expected)s"),
    ),
    "contains": (
        lazy_gettext("%(subject)s contains %(expected)s"),
        lazy_gettext("%(subject)s does not contain %(expected)s"),
    ),
    "matches": (
        lazy_gettext("%(subject)s matches %(expected)s"),
        lazy_gettext("%(subject)s does not match %(expected)s"),
    ),
    "starts_with": (
        lazy_gettext("%(subject)s starts with %(expected)s"),
        lazy_gettext("%(subject)s does not start with %(expected)s"),
    ),
    "ends_with": (
        lazy_gettext("%(subject)s ends with %(expected)s"),
        lazy_gettext("%(subject)s does not end with %(expected)s"),
    ),
    "length": (
        lazy_gettext("%(subject)s has the length %(expected)s"),
        lazy_gettext("%(subject)s does not have the length %(expected)s"),
    ),
    "type": (
        lazy_gettext("%(subject)s is of the type %(expected)s"),
        lazy_gettext("%(subject)s is not of the type %(expected)s"),
    ),
    "has": (
        lazy_gettext("%(subject)s has %(expected)s"),
        lazy_gettext("%(subject)s does not have %(expected)s"),
    ),
    "raises": (
        lazy_gettext("%(subject)s raises %(expected)s"),
        lazy_gettext("%(subject)s does not raise %(expected)s"),
    ),
    "warns": (
        lazy_gettext("%(subject)s warns with %(expected)s"),
        lazy_gettext("%(subject)s does not warn with %(expected)s"),
    ),
    "logs": (
        lazy_gettext("%(subject)s logs %(expected)s"),
        lazy_gettext("%(subject)s does not log %(expected)s"),
    ),
    "called_with": (
        lazy_gettext("%(subject)s is called with %(expected)s"),
        lazy_gettext("%(subject)s is not called with %(expected)s"),
    ),
    "snapshot": (
        lazy_gettext("%(subject)s is as in the snapshot %(expected)s"),
        lazy_gettext("%(subject)s is not as in the snapshot %(expected)s"),
    ),
    "custom": (
        lazy_gettext("%(subject)s passes a custom check with %(expected)s"),
        lazy_gettext("%(subject)s does not pass a custom check with %(expected)s"),
    ),
}  # fmt: skip
#: The same for a check without, or for one that has nothing to expect.
ALONE = {
    "truthy": (lazy_gettext("%(subject)s holds"), lazy_gettext("%(subject)s does not hold")),
    "none": (lazy_gettext("%(subject)s has no value"), lazy_gettext("%(subject)s has a value")),
    "empty": (lazy_gettext("%(subject)s is empty"), lazy_gettext("%(subject)s is not empty")),
    "called": (lazy_gettext("%(subject)s is called"), lazy_gettext("%(subject)s is not called")),
    "raises": (lazy_gettext("%(subject)s raises an error"), lazy_gettext("%(subject)s raises no error")),
    "warns": (lazy_gettext("%(subject)s warns"), lazy_gettext("%(subject)s does not warn")),
    "logs": (lazy_gettext("%(subject)s logs a line"), lazy_gettext("%(subject)s logs no line")),
    "called_with": (
        lazy_gettext("%(subject)s is called with certain arguments"),
        lazy_gettext("%(subject)s is not called with certain arguments"),
    ),
    "snapshot": (
        lazy_gettext("%(subject)s is as in its snapshot"),
        lazy_gettext("%(subject)s is not as in its snapshot"),
    ),
    "custom": (
        lazy_gettext("%(subject)s passes a custom check"),
        lazy_gettext("%(subject)s does not pass a custom check"),
    ),
    "fails": (lazy_gettext("the test fails where it comes here"), lazy_gettext("the test fails where it comes here")),
}  # fmt: skip
#: In place of a subject that is a block of code.
CODE = lazy_gettext("the code")
_SOURCE = Markup('<code translate="no">{}</code>')


def check_sentence(check: Mapping[str, Any]) -> Markup:
    """The sentence for one check, with source as code; other relations than ours, of a newer engine, as they are."""
    relation, expected = str(check.get("relation", "")), check.get("expected")
    known = EXPECTED if expected is not None and relation in EXPECTED else ALONE
    if relation not in known:
        return Markup(" ").join(_source(check.get(part)) for part in ("subject", "relation", "expected"))
    sentence = Markup(str(known[relation][bool(check.get("negated"))]))  # noqa: S704 - our own messages
    return sentence % {"subject": _source(check.get("subject")), "expected": _source(expected)}


def _source(part: object) -> Markup:
    return Markup("{}").format(CODE) if part is None else _SOURCE.format(part)
