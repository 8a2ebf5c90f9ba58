"""Files that cannot be read beside those that can."""

from testlist_harness.repositories import MakeRepository, TakeInventory

FILES = {
    "src/test/java/ATest.java": "import org.junit.jupiter.api.*;\nclass ATest extends z.Base { @Test void own() {} }\n",
    "src/test/java/BTest.java": "class BTest { // @Test \0\n}\n",
    "src/test/java/z/Base.java": (
        "package z;\nimport org.junit.jupiter.api.*;\npublic abstract class Base { @Test void inherited() {} }\n"
    ),
}


def test_a_binary_file_costs_no_other_its_inherited_tests(make_repository: MakeRepository, take: TakeInventory) -> None:
    found = take(make_repository(FILES))
    assert [test.name for file in found.files for test in file.tests] == ["own", "inherited"]
