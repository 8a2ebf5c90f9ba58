"""Python files that are asked again, once more has been read, for what they lead to."""

from testlist.languages.python.resolve import Resolver
from testlist.project import Project

BASE = {"k": "class", "name": "TestA", "line": 1, "column": 1, "end": 2, "bases": ["Base"], "marks": [], "body": []}
IMPORT = {"k": "import", "name": "Base", "module": "middle", "of": "Base", "level": 0}
STAR = {"k": "star", "module": "deep", "level": 0}
ONWARD = {**IMPORT, "module": "last"}
BODIES = {
    "test_a.py": [IMPORT, BASE],
    "middle.py": [STAR],
    "deep.py": [ONWARD],
    "last.py": [{**BASE, "name": "Base", "bases": []}],
}


def test_a_file_is_asked_again_when_a_star_import_it_does_not_have_itself_is_read() -> None:
    suite = Resolver.of(Project(dict.fromkeys(BODIES, "0")))
    facts = {"test_a.py": {"body": BODIES["test_a.py"]}}
    order = []
    while new := suite.needs(facts):
        order.append(sorted(new))
        facts |= {path: {"body": BODIES[path]} for path in new}
    assert order == [["middle.py"], ["deep.py"], ["last.py"]]
