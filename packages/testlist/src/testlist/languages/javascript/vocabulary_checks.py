"""Names of checks in JavaScript: matchers of expect, words of Chai's chains, and functions of assert."""

from typing import Final

#: words of a chain that turn it, and those that only read well
NEGATIONS: Final = frozenset({"not"})
FILLERS: Final = frozenset(
    {"to", "be", "been", "is", "that", "which", "and", "has", "have", "with", "at", "of", "same", "but", "does",
     "still", "also", "resolves", "rejects", "eventually", "deep", "nested", "own", "ordered", "any", "all", "an",
     "a", "soft"}
)  # fmt: skip
#: matchers of Jest, Vitest, Jasmine, Playwright and Chai -> relation; the first argument is what is expected
MATCHERS: Final[dict[str, str]] = {
    **dict.fromkeys(("toBe", "toEqual", "toStrictEqual", "equal", "equals", "eq", "eql", "eqls", "deepEqual",
                     "toHaveText", "toHaveValue", "toHaveTextContent"), "equal"),
    **dict.fromkeys(("toBeCloseTo", "closeTo", "approximately"), "approximate"),
    **dict.fromkeys(("toBeGreaterThan", "above", "gt", "greaterThan"), "greater"),
    **dict.fromkeys(("toBeGreaterThanOrEqual", "least", "gte"), "greater_equal"),
    **dict.fromkeys(("toBeLessThan", "below", "lt", "lessThan"), "less"),
    **dict.fromkeys(("toBeLessThanOrEqual", "most", "lte"), "less_equal"),
    **dict.fromkeys(("toContain", "toContainEqual", "toMatchObject", "include", "includes", "contain", "contains",
                     "members", "toContainText"), "contains"),
    **dict.fromkeys(("toMatch", "match", "matches"), "matches"),
    **dict.fromkeys(("toHaveLength", "lengthOf", "toHaveCount", "toHaveSize"), "length"),
    **dict.fromkeys(("toBeInstanceOf", "instanceof", "instanceOf", "toBeTypeOf", "an", "a"), "type"),
    **dict.fromkeys(("toHaveProperty", "property", "keys", "key", "toHaveAttribute", "toHaveClass"), "has"),
    **dict.fromkeys(("toThrow", "toThrowError", "throw", "throws", "rejectedWith"), "raises"),
    **dict.fromkeys(("toHaveBeenCalled", "toBeCalled", "toHaveBeenCalledTimes", "toBeCalledTimes",
                     "toHaveBeenCalledOnce", "called", "calledOnce", "callCount"), "called"),
    **dict.fromkeys(("toHaveBeenCalledWith", "toBeCalledWith", "toHaveBeenLastCalledWith", "toHaveBeenNthCalledWith",
                     "toHaveBeenCalledExactlyOnceWith", "calledWith", "calledOnceWith"), "called_with"),
    **dict.fromkeys(("toMatchSnapshot", "toMatchInlineSnapshot", "toMatchFileSnapshot", "toHaveScreenshot",
                     "toThrowErrorMatchingSnapshot", "toThrowErrorMatchingInlineSnapshot", "matchSnapshot"),
                    "snapshot"),
    **dict.fromkeys(("toBeTruthy", "ok", "true", "toBeTrue", "toBeVisible", "toBeInTheDocument", "exist"), "truthy"),
    **dict.fromkeys(("toBeNull", "toBeUndefined", "null", "undefined"), "none"),
    "empty": "empty",
}  # fmt: skip
#: matchers that say the opposite of a relation
OPPOSITES: Final[dict[str, str]] = {
    "toBeFalsy": "truthy", "toBeFalse": "truthy", "false": "truthy", "toBeDefined": "none", "toBeHidden": "truthy",
}  # fmt: skip
#: words at the end of a chain that check without being called
ALONE: Final = frozenset({"true", "false", "null", "undefined", "ok", "empty", "exist", "called", "calledOnce"})
#: functions of assert, in Node and Chai -> (relation, negated); the first two arguments are subject and expected
ASSERTS: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(("equal", "strictEqual", "deepEqual", "deepStrictEqual", "is", "equals", "same", "strictSame",
                     "deepEquals", "assertEquals", "assertStrictEquals"), ("equal", False)),
    **dict.fromkeys(("notEqual", "notStrictEqual", "notDeepEqual", "notDeepStrictEqual", "not", "notSame",
                     "assertNotEquals"), ("equal", True)),
    **dict.fromkeys(("ok", "isTrue", "isOk", "true", "truthy", "assert"), ("truthy", False)),
    **dict.fromkeys(("isFalse", "notOk", "isNotOk", "false", "falsy", "assertFalse"), ("truthy", True)),
    **dict.fromkeys(("match", "regex", "assertMatch"), ("matches", False)),
    **dict.fromkeys(("doesNotMatch", "notMatch", "notRegex"), ("matches", True)),
    **dict.fromkeys(("throws", "rejects", "throwsAsync", "assertThrows", "assertRejects"), ("raises", False)),
    **dict.fromkeys(("doesNotThrow", "doesNotReject", "notThrows"), ("raises", True)),
    **dict.fromkeys(("isNull", "isUndefined", "notExists", "isNil"), ("none", False)),
    **dict.fromkeys(("isNotNull", "isDefined", "exists", "assertExists"), ("none", True)),
    **dict.fromkeys(("include", "includes", "deepInclude", "assertStringIncludes", "hasSubset"), ("contains", False)),
    **dict.fromkeys(("notInclude",), ("contains", True)),
    **dict.fromkeys(("instanceOf", "typeOf", "assertInstanceOf", "type"), ("type", False)),
    **dict.fromkeys(("property", "hasAllKeys", "containsAllKeys"), ("has", False)),
    **dict.fromkeys(("lengthOf",), ("length", False)),
    **dict.fromkeys(("isAbove",), ("greater", False)),
    **dict.fromkeys(("isAtLeast",), ("greater_equal", False)),
    **dict.fromkeys(("isBelow",), ("less", False)),
    **dict.fromkeys(("isAtMost",), ("less_equal", False)),
    **dict.fromkeys(("closeTo", "approximately", "assertAlmostEquals"), ("approximate", False)),
    **dict.fromkeys(("matchSnapshot", "snapshot", "assertSnapshot"), ("snapshot", False)),
    **dict.fromkeys(("fail", "assertFail"), ("fails", False)),
}  # fmt: skip
#: objects whose methods are those; `t` is what AVA, tap, Node and Deno hand to a test
OWNERS: Final = frozenset({"assert", "t", "test", "chai.assert", "assert.strict", "t.assert"})
#: others, of Chai, that have but the one that fails a test
FAILING: Final = frozenset({"expect.fail", "chai.expect.fail", "should.fail"})
#: operators of a condition -> (relation, negated), and methods with one argument in it
OPERATORS: Final[dict[str, tuple[str, bool]]] = {
    **dict.fromkeys(("==", "==="), ("equal", False)), **dict.fromkeys(("!=", "!=="), ("equal", True)),
    "<": ("less", False), "<=": ("less_equal", False), ">": ("greater", False), ">=": ("greater_equal", False),
    "instanceof": ("type", False), "in": ("has", False),
}  # fmt: skip
TRUTHS: Final = {
    "includes": "contains", "startsWith": "starts_with", "endsWith": "ends_with", "test": "matches", "has": "has",
    "hasOwnProperty": "has",
}  # fmt: skip
#: of the methods of OWNERS, those that `t` of a runner has for something else
OTHERWISE: Final = frozenset({"test", "step", "skip", "todo", "plan", "end", "log", "type", "property"})
