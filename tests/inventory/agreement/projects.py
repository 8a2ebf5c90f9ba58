"""Which releases are compared, chosen for the variety of what their tests use, each at a version of its own."""

from typing import NamedTuple

PYTEST = "pytest==9.2.0"


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


def sdist(name: str, version: str, *needs: str, options: tuple[str, ...] = (), **more: object) -> Project:
    return Project(name, version, (("pytest", *options),), (PYTEST, *needs), **more)  # type: ignore[arg-type]


SDISTS = (
    sdist("attrs", "26.1.0", "hypothesis==6.170.15"),
    sdist("blinker", "1.9.0", "pytest-asyncio"),
    sdist("boltons", "26.2.0"),
    sdist("cachetools", "8.0.1"),
    sdist("click", "8.5.1"),
    sdist("h11", "0.16.0"),
    sdist("itsdangerous", "2.2.0", "freezegun"),
    sdist("more-itertools", "11.2.1", brief=True),
    sdist("packaging", "26.3", "hypothesis==6.170.15", "pretend", "tomli-w"),
    sdist("pluggy", "1.7.0"),
    sdist("pyparsing", "3.3.3", "railroad-diagrams", "jinja2", "matplotlib"),
    sdist("python-dateutil", "4.0.0", "freezegun", "hypothesis==6.170.15", "attrs"),
    sdist("simplejson", "4.3.0"),
    sdist("six", "1.17.0"),
    sdist("vine", "5.1.0"),
    sdist("wcwidth", "0.9.4", "pytest-cov"),
    sdist("zope.interface", "8.7", "zope.testing"),
)
BABEL = (
    '--transform={"\\\\.[jt]sx?$":["babel-jest",{"babelrc":false,"configFile":false,"presets":["@babel/preset-env"]}]}'
)
JEST = ("jest@30.5.2", "@babel/preset-env@7.29.0")
MOCHA = "mocha@11.7.5"
TARBALLS = (
    Project("css-to-react-native", "3.2.0", (("jest", BABEL),), JEST),
    Project(
        "cborg",
        "6.1.5",
        (("mocha", "test/test-*.js", "test/node-test-bin.js"),),
        (MOCHA, "chai@6.2.2", "ipld-garbage@5.0.0"),
    ),
    Project("domutils", "1.7.0", (("mocha", "test/tests/**.js"),), (MOCHA, "htmlparser2@3.9.2", "domhandler@2.4.2")),
    Project("entities", "1.1.2", (("mocha",),), (MOCHA,)),
    Project("find-my-way", "9.10.1", (("node-test",),), ("proxyquire@2.1.3", "rfdc@1.3.0", "chalk", "inquirer")),
    Project("hash.js", "1.1.7", (("mocha", "test/*-test.js"),), (MOCHA,)),
    Project("htmlparser2", "3.8.3", (("mocha",),), (MOCHA,)),
    Project("json-schema-traverse", "1.0.0", (("mocha", "spec"),), (MOCHA,)),
    Project(
        "jsx-ast-utils",
        "3.3.5",
        (("jest", BABEL),),
        (
            *JEST,
            "flow-parser@0.126.1",
            "@babel/parser@7.22.7",
            "babylon@6.18.0",
            "object.entries@1.1.6",
            "object.fromentries@2.0.6",
        ),
    ),
    Project(
        "light-my-request",
        "6.8.1",
        (("node-test",),),
        (
            "@fastify/ajv-compiler",
            "end-of-stream",
            "express",
            "form-auto-content",
            "form-data",
            "formdata-node",
            "multer",
            "undici",
        ),
    ),
    Project("process-warning", "5.1.1", (("node-test",), ("jest", "jest.test.js")), JEST),
    Project("safe-regex2", "5.1.2", (("node-test",),), brief=True),
    Project("zod", "4.6.7", (("vitest",),), ("vitest@5.1.1",)),
)
