"""What one file may cost, where thousands of others speak of it or where it says one thing thousands of times."""

import json
import time

import pytest
from testlist.languages.csharp.config_msbuild import extract as msbuild
from testlist.languages.csharp.config_projects import DotnetProjects
from testlist.languages.dart.facts import extract as dart
from testlist.languages.dart.resolve import Resolver
from testlist.languages.jvm.facts_java import extract as java
from testlist.languages.jvm.resolve_names import Names
from testlist.model import Facts
from testlist.project import Project
from testlist_harness.repositories import MakeRepository, TakeInventory

MANY = 20_000


def projects_of(shared: str, count: int) -> DotnetProjects:
    """Some projects that are all built on one file."""
    own = msbuild(b'<Project><Import Project="../eng/shared.props" /></Project>', "")
    configs = {f"p{number}/p.csproj": own for number in range(count)}
    configs["eng/shared.props"] = msbuild(shared.encode(), "")
    return DotnetProjects(Project(dict.fromkeys(configs, ""), configs))


def test_projects_keep_little_of_a_large_file_that_all_import() -> None:
    packages = "".join(f'<PackageReference Include="xunit.{number}" />' for number in range(MANY // 4))
    references = "".join(f'<ProjectReference Include="../p{number}/p.csproj" />' for number in range(MANY // 4))
    projects = projects_of(f"<Project>{packages}{references}</Project>", 50)
    kept = [len(one.packages) + len(one.references) for one in projects.own.values()]
    assert len(kept) == 50
    assert max(kept) <= 300
    assert projects.is_test("p7")


def test_the_one_package_of_tests_in_a_large_file_is_found() -> None:
    others = "".join(f'<PackageReference Include="other.{number}" />' for number in range(MANY // 4))
    projects = projects_of(f'<Project>{others}<PackageReference Include="NUnit" /></Project>', 3)
    assert [projects.own[folder].packages for folder in projects.own] == [{"nunit"}] * 3


def test_thousands_of_tests_that_a_method_attaches_look_for_it_once(
    make_repository: MakeRepository, take: TakeInventory
) -> None:
    lines = [
        "import unittest",
        "class ATest(unittest.TestCase):",
        *(f"    def test_{number}(self): pass" for number in range(2_500)),
        "    @classmethod",
        "    def add(cls, name):",
        "        setattr(cls, 'test_' + name, lambda self: None)",
        *(f"ATest.add('test_{number}')" for number in range(2_500)),
    ]
    repository = make_repository({"test_a.py": "\n".join(lines)})
    before = time.process_time()
    found = take(repository)
    assert time.process_time() - before < 2
    assert len(found.tests) == 2_501


def test_functions_of_dart_do_not_copy_the_parameters_around_them() -> None:
    parameters = b", ".join(b"a%d" % number for number in range(MANY))
    before = time.process_time()
    dart(b"void test1(" + parameters + b") { " + b"b(c) { }\n" * MANY + b"}", "dart")
    assert time.process_time() - before < 3


def test_files_of_dart_that_import_each_other_are_gone_through_once() -> None:
    paths = [f"test/a{number}_test.dart" for number in range(400)]
    facts: dict[str, Facts] = {path: {"imports": [one.rpartition("/")[2] for one in paths]} for path in paths}
    resolver = Resolver.of(Project(dict.fromkeys(paths, "")))
    assert resolver.leads(facts) == set()
    before = time.process_time()
    assert {resolver.owner(path, facts) for path in paths} == {"dart-test"}
    assert time.process_time() - before < 1.5


HOSTILE = {
    "a name of thousands of modules": {
        "test_a.py": "import a\n@" + "a." * 20_000 + "a\ndef test_x():0\n",
        "a/__init__.py": "",
    },
    "crates that hand an attribute on to each other": {
        f"c{one}/{path}": content
        for one in range(14)
        for path, content in {
            "Cargo.toml": f'[package]\nname = "c{one}"\n[lib]\n[[test]]\nname = "t"\nharness = false\n[dev-dependencies]\n'
            + "".join(f'c{other} = {{ path = "../c{other}" }}\n' for other in range(14) if other != one),
            "src/lib.rs": "".join(f"pub use c{other}::test;\n" for other in range(14) if other != one),
            "tests/t.rs": f"use c{(one + 1) % 14}::test;\n#[test]\nfn a() {{}}\n",
        }.items()
    },
    "a script that runs another thousands of times": {
        "package.json": json.dumps({"scripts": dict.fromkeys("abcdefgh", "npm run x -- vitest;" * 240) | {"x": "vitest " + "x " * 2_400}}),
        "a.test.js": "test('a', () => {})\n",
    },
    "a workspace of thousands of folders": {
        "vitest.workspace.json": json.dumps([f"{sign}a{one}" for one in range(40_000) for sign in ("", "!")]),
        "a1/a.test.js": "import {test} from 'vitest'\ntest('a', () => {})\n",
    },
    "a package of thousands of folders": {
        "go.mod": "module a\n",
        "a_test.go": 'package a\nimport b "' + "test/" + "a/" * 100_000 + '"\nimport "testing"\nfunc TestA(t *testing.T) { b.C(t) }\n',
    },
}  # fmt: skip


@pytest.mark.parametrize("files", HOSTILE.values(), ids=HOSTILE)
def test_what_no_person_writes_takes_seconds(
    make_repository: MakeRepository, take: TakeInventory, files: dict[str, str]
) -> None:
    """Each took minutes, or gigabytes of memory, in the process that resolves names."""
    repository = make_repository(files)
    before = time.process_time()
    take(repository, checks=True)
    assert time.process_time() - before < 10


def test_classes_of_java_keep_little_of_a_name_of_half_a_million_letters() -> None:
    source = b"package " + b"a." * 250_000 + b"a;\n" + b"".join(b"class A%d {}\n" % number for number in range(50))
    resolver = Names({})
    resolver.learn({"A.java": java(source, "java")})
    assert len(resolver.classes) == 50
    assert max(map(len, resolver.classes)) < 1_100
