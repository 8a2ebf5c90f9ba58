"""Which releases are compared, chosen for the variety of what their tests use, each at a version of its own."""

from typing import NamedTuple

PYTEST = "pytest==9.2.0"
HYPOTHESIS = "hypothesis==6.170.15"


class Project(NamedTuple):
    """A release that ships its tests.

    needs: what must be installed for them beside the release itself; runs: runner and its arguments, those of the
    project's own script; brief: compared in every run of the suite; the bounds: percent.
    """

    name: str
    version: str
    runs: tuple[tuple[str, ...], ...]
    needs: tuple[str, ...] = ()
    brief: bool = False
    precision: float = 99.0
    recall: float = 99.0


def sdist(name: str, version: str, *needs: str, **more: object) -> Project:
    return Project(name, version, (("pytest",),), (PYTEST, *needs), **more)  # type: ignore[arg-type]


SDISTS = (
    # property tests, and modules left out by a conftest.py on older versions of Python: two of them here
    sdist("attrs", "26.1.0", "cloudpickle==3.1.2", HYPOTHESIS),
    sdist("blinker", "1.9.0", "pytest-asyncio==1.5.0"),
    sdist("boltons", "26.2.0"),
    # cases of mixin classes, once where they are defined
    sdist("cachetools", "8.0.1"),
    # `-m` in `addopts`
    sdist("click", "8.5.1"),
    # tests in the package
    sdist("h11", "0.16.0"),
    # base classes of tests in other modules
    sdist("itsdangerous", "2.2.0", "freezegun==1.5.5"),
    sdist("more-itertools", "11.2.1", brief=True),
    # `testpaths` of another name
    sdist("pluggy", "1.7.0"),
    # one class that others run again
    sdist("pyparsing", "3.3.3", "jinja2==3.1.6", "railroad-diagrams==3.0.1"),
    # unittest and pytest in one file
    sdist("python-dateutil", "4.0.0", "attrs==26.1.0", "freezegun==1.5.5", HYPOTHESIS),
    sdist("simplejson", "4.3.0"),
    sdist("six", "1.17.0"),
    # `python_classes` of another pattern
    sdist("vine", "5.1.0"),
    sdist("wcwidth", "0.9.4", "pytest-cov==7.1.0", "setuptools==80.9.0"),
    # two functions that a factory puts into classes when they are made are listed by pytest alone
    sdist("zope.interface", "8.7", "zope.testing==6.2"),
)

MOCHA = "mocha@11.8.0"
JEST = ("jest@30.5.2", "@babel/preset-env@7.29.14")
#: The presets of some projects are older than jest's Babel, or not shipped.
BABEL = (
    '--transform={"\\\\.[jt]sx?$":["babel-jest",{"babelrc":false,"configFile":false,"presets":["@babel/preset-env"]}]}'
)
TARBALLS = (
    # two calls in a loop stand below an `if` that never holds
    Project(
        "cborg", "6.1.5", (("mocha", "test/test-*.js", "test/node-test-bin.js"),),
        (MOCHA, "chai@6.2.2", "ipld-garbage@5.0.0"),
    ),
    Project("css-to-react-native", "3.2.0", (("jest", BABEL),), JEST),
    Project("domutils", "1.7.0", (("mocha", "test/tests/**.js"),), (MOCHA, "htmlparser2@3.9.2", "domhandler@2.4.2")),
    Project("entities", "1.1.2", (("mocha",),), (MOCHA,)),
    Project("find-my-way", "9.10.1", (("node-test",),), ("proxyquire@2.1.3", "rfdc@1.3.0")),
    Project("hash.js", "1.1.7", (("mocha", "test/*-test.js"),), (MOCHA,)),
    # tests made from files, in loops
    Project("htmlparser2", "3.8.3", (("mocha",),), (MOCHA,)),
    Project("json-schema-traverse", "1.0.0", (("mocha", "spec"),), (MOCHA,), brief=True),
    Project(
        "jsx-ast-utils", "3.3.5", (("jest", BABEL),),
        (
            *JEST, "@babel/parser@7.22.7", "babylon@6.18.0", "flow-parser@0.126.1", "object.entries@1.1.6",
            "object.fromentries@2.0.6",
        ),
    ),
    Project(
        "light-my-request", "6.8.1", (("node-test",),),
        (
            "@fastify/ajv-compiler@4.0.7", "end-of-stream@1.4.5", "express@5.3.0", "form-auto-content@3.2.1",
            "form-data@4.0.6", "formdata-node@6.0.3", "multer@2.5.0", "undici@7.30.2",
        ),
    ),
    # two runners; the one test of jest's, among files that node's runner runs too, is taken for node's
    Project("process-warning", "5.1.1", (("node-test",), ("jest", "jest.test.js")), JEST),
    Project("safe-regex2", "5.1.2", (("node-test",),), brief=True),
    # five files of 196 import packages that are not installed here: 176 tests that vitest cannot list.  vitest 5
    # lists by parsing, which is no truth
    Project("zod", "4.6.7", (("vitest",),), ("vitest@4.1.12",), precision=93.0),
)  # fmt: skip
