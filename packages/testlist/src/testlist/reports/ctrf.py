"""An inventory as a Common Test Report (CTRF), for tools that show reports of runs: nothing was run."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from testlist.model import Inventory, Test

#: version of the format
SPEC_VERSION: Final = "0.0.0"
#: status -> what a report calls it; the others may pass or fail, and are neither
STATUSES: Final = {"skipped": "skipped", "todo": "pending"}
OTHER: Final = "other"


def ctrf(inventory: Inventory) -> Iterator[str]:
    """One JSON object, a test a line; durations and times are 0, as nothing was run."""
    tests = [test for test in inventory.tests if test.kind != "subtest"]
    counts = Counter(STATUSES.get(test.status, OTHER) for test in tests)
    names = ("passed", "failed", "skipped", "pending", OTHER)
    summary = {"tests": len(tests), **{name: counts[name] for name in names}, "start": 0, "stop": 0}
    tool = {"name": "testlist", "version": inventory.parser_version, "extra": {"commit": inventory.commit}}
    yield f'{{"reportFormat": "CTRF", "specVersion": "{SPEC_VERSION}", "generatedBy": "testlist",\n"results": {{\n'
    yield f'"tool": {json.dumps(tool)},\n"summary": {json.dumps(summary)},\n"tests": ['
    for number, test in enumerate(tests):
        yield f"{',' if number else ''}\n{json.dumps(_test(test))}"
    yield "]}}\n"


def _test(test: Test) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": test.name or "?",
        "status": STATUSES.get(test.status, OTHER),
        "duration": 0,
        "rawStatus": test.status,
        "tags": [test.framework, test.kind],
        "filePath": test.file,
        "line": test.line,
    }
    return found | ({"suite": list(test.suites)} if test.suites else {})
