"""What frameworks have from the kit: default answers, and answers that are worked out once."""

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope, Growing
from testlist.project import Project


def made(project: Project) -> list[str]:
    return sorted(project.blobs)


def test_what_a_commit_is_made_into_is_made_once_for_each_function() -> None:
    project = Project({"a.py": "1"})
    assert project.once(made) is project.once(made)
    assert project.once(len_of) == 1
    assert Project({"b.py": "1"}).once(made) == ["b.py"]


def len_of(project: Project) -> int:
    return len(project.blobs)


def test_an_answer_is_worked_out_again_when_more_has_been_read() -> None:
    asked: list[int] = []
    facts: dict[str, dict[str, object]] = {}
    growing: Growing[set[str]] = Growing(set())

    def work() -> set[str]:
        asked.append(len(facts))
        return set(facts)

    assert growing.of(facts, work) == set()
    facts["a.py"] = {}
    assert growing.of(facts, work) == growing.of(facts, work) == {"a.py"}
    facts["b.py"] = {}
    assert growing.of(facts, work) == {"a.py", "b.py"}
    assert asked == [1, 2]


def test_a_scope_that_says_nothing_else_reads_no_further_file_and_claims_all_candidates_by_name() -> None:
    scope = DefaultScope()
    assert scope.needs({"a.py": {}}) == set()
    assert scope.claim("a.py", {}) == Claim(Signal.NAME)


def test_a_declared_framework_has_no_configuration_unless_it_says_so() -> None:
    plain = DeclaredFramework("ward", frozenset({"python"}), lambda _: DefaultScope())  # type: ignore[arg-type,return-value]
    assert (plain.shared, plain.config_language("ward.toml")) == (False, None)
