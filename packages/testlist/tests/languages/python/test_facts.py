"""What a child reads from a Python file."""

from testlist.languages.python.facts import extract
from testlist.languages.python.shape import shape

NESTED = b"""\
if TYPE_CHECKING:
    import fast
else:
    try:
        import fast
    except ImportError:
        fast = None
"""


def test_an_except_branch_stays_one_in_the_branch_that_always_runs() -> None:
    bound = {(item["k"], "other" in item) for item in shape(extract(NESTED, "python")).get("body", ())}
    assert bound == {("import", False), ("set", True)}
