"""What one file may cost, where thousands of others speak of it or where it says one thing thousands of times."""

import time

from testlist.languages.csharp.config_msbuild import extract as msbuild
from testlist.languages.csharp.config_projects import DotnetProjects
from testlist.languages.dart.facts import extract as dart
from testlist.languages.dart.resolve import Resolver
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
