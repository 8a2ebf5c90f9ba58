"""Names of checks in PHP that stand behind Pest's `expect`."""

from typing import Final

#: links of a chain that are no part of what is checked
TURNS: Final = "not"
#: matchers -> relation; the first argument is what is expected
MATCHERS: Final[dict[str, str]] = {
    **dict.fromkeys(("toBe", "toEqual", "toEqualCanonicalizing"), "equal"),
    "toEqualWithDelta": "approximate",
    **dict.fromkeys(("toBeTrue", "toBeTruthy", "toBeFile", "toBeDirectory", "toExist"), "truthy"),
    "toBeNull": "none",
    "toBeEmpty": "empty",
    **dict.fromkeys(("toHaveCount", "toHaveLength", "toHaveSameSize"), "length"),
    **dict.fromkeys(("toContain", "toContainEqual", "toMatchArray", "toMatchObject"), "contains"),
    "toStartWith": "starts_with",
    "toEndWith": "ends_with",
    "toMatch": "matches",
    **dict.fromkeys(
        ("toBeInstanceOf", "toContainOnlyInstancesOf", "toBeArray", "toBeBool", "toBeCallable", "toBeFloat", "toBeInt",
         "toBeIterable", "toBeNumeric", "toBeObject", "toBeResource", "toBeScalar", "toBeString"),
        "type",
    ),
    **dict.fromkeys(("toHaveKey", "toHaveKeys", "toHaveProperty", "toHaveProperties"), "has"),
    "toBeGreaterThan": "greater",
    "toBeGreaterThanOrEqual": "greater_equal",
    "toBeLessThan": "less",
    "toBeLessThanOrEqual": "less_equal",
    "toThrow": "raises",
    "toMatchSnapshot": "snapshot",
}  # fmt: skip
#: matchers that say the opposite of a relation
OPPOSITES: Final[dict[str, str]] = {"toBeFalse": "truthy", "toBeFalsy": "truthy"}
#: links behind a test that say what its body throws -> the place of the exception
THROWS: Final[dict[str, int]] = {"throws": 0, "throwsIf": 1, "throwsUnless": 1}
