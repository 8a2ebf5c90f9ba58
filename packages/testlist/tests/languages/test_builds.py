"""What Gradle's settings and commands tell of the builds of a repository, apart from the projects of the corpus."""

import pytest
from testlist.kit.commands import extract
from testlist.languages.jvm.config_settings import is_literal, strings

LITERAL = [
    "rootProject.name = 'shop'\n",
    "include 'core', 'web'\ninclude ':tools:lint'\n",
    'include(\n    ":core",\n    ":web",\n)\n',
    "pluginManagement {\n    plugins { id 'org.gradle.any' version '1' apply false }\n}\ninclude 'core'\n",
    "/* include modules */\n// file('modules').eachDir { include it.name }\ninclude 'core'\n",
]
COMPUTED = [
    "file('modules').eachDir { include it.name }\n",
    "['core', 'web'].each { include it }\n",
    "include modules as String[]\n",
    'include("core", *others)\n',
    "apply from: 'gradle/projects.gradle'\n",
    "include ':core'\nproject(':core').projectDir = file('engine')\n",
    'plugins { id("com.example.projects") }\ninclude("core")\n',
    'projects {\n    +"core"\n}\n',
    "def found = ['core']\ninclude 'web'\n",
    "rootProject.children.each { it.buildFileName = 'core.gradle' }\n",
]


@pytest.mark.parametrize("text", LITERAL)
def test_settings_that_only_name_projects_name_all_of_them(text: str) -> None:
    assert is_literal(text)


@pytest.mark.parametrize("text", COMPUTED)
def test_settings_that_compute_projects_do_not_name_all(text: str) -> None:
    assert not is_literal(text)


def test_texts_in_comments_are_no_names() -> None:
    assert list(strings("include 'a' // 'b'\n/* \"c\" */ include \"d\"\n")) == ["a", "d"]


def test_commands_of_maven_and_gradle_tell_where_they_work() -> None:
    lines = [
        "mvn -f examples/shop/pom.xml install",
        "./gradlew -p samples/cart build",
        "./gradlew --project-dir=samples/desk check",
        "mvn -pl core -Pfull verify",
        "java -p modules test",
    ]
    data = extract("\n".join(lines).encode(), "commands")["data"]
    assert data["places"] == ["examples/shop", "samples/cart", "samples/desk"]
