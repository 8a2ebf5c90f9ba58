"""Names by which a repository shows which runner its feature files belong to."""

from typing import Final

BEHAT: Final = "behat"
BEHAVE: Final = "behave"
#: of files that no other runner has, and of runners built on Cucumber's parser that are not known here
CUCUMBER: Final = "cucumber"
CUCUMBER_JS: Final = "cucumber-js"
CUCUMBER_JVM: Final = "cucumber-jvm"
CUCUMBER_RUBY: Final = "cucumber-ruby"
GODOG: Final = "godog"
KARATE: Final = "karate"
PYTEST_BDD: Final = "pytest-bdd"
REQNROLL: Final = "reqnroll"
SPECFLOW: Final = "specflow"

#: configuration file -> its runner
CONFIGURES: Final = {
    **dict.fromkeys(("behave.ini", ".behaverc"), BEHAVE),
    **dict.fromkeys(("behat.yml", "behat.yml.dist", "behat.dist.yml", "behat.php", "behat.dist.php"), BEHAT),
    **dict.fromkeys(("behat.yaml", "behat.yaml.dist", "behat.dist.yaml"), BEHAT),
    **dict.fromkeys(("cucumber.js", "cucumber.cjs", "cucumber.mjs", "cucumber.json", "cucumber.yaml"), CUCUMBER_JS),
    "cucumber.yml": CUCUMBER_RUBY,
    "karate-config.js": KARATE,
    "reqnroll.json": REQNROLL,
    "specflow.json": SPECFLOW,
}
#: build files of the one runner that their tools have
BUILDS: Final = dict.fromkeys(("pom.xml", "build.gradle", "build.gradle.kts", "build.sbt"), CUCUMBER_JVM)
#: folders of a project in which its configuration may lie
CONFIGS: Final = frozenset({"config", ".config"})
#: above it are the folders that Maven and Gradle know
SOURCES: Final = "src"
#: folders of the code behind steps, beside or around the feature files
STEPS: Final = frozenset({"step_definitions", "step-definitions", "stepDefinitions", "steps", "step_defs", "support"})
#: suffix of such code -> its runner
WRITTEN_IN: Final = {
    **dict.fromkeys(("js", "cjs", "mjs", "ts", "cts", "mts", "tsx"), CUCUMBER_JS),
    "py": BEHAVE,
    "rb": CUCUMBER_RUBY,
}
#: a folder of another runner that keeps such code in the same way, and has no name of its own here
CYPRESS: Final = "cypress"
#: behave's hooks, beside the feature files or their folder
HOOKS: Final = "environment.py"
BOOTSTRAP: Final = "bootstrap"
GO_TESTS: Final = "_test.go"
#: package that a manifest asks for -> the runner
PACKAGES: Final = {
    "@cucumber/cucumber": CUCUMBER_JS,
    **dict.fromkeys(("@badeball/cypress-cucumber-preprocessor", "cypress-cucumber-preprocessor"), CUCUMBER),
    **dict.fromkeys(("jest-cucumber", "playwright-bdd", "@amiceli/vitest-cucumber"), CUCUMBER),
    "@wdio/cucumber-framework": CUCUMBER,
    "behat/behat": BEHAT,
    "behave": BEHAVE,
    "pytest-bdd": PYTEST_BDD,
    "pytest_bdd": PYTEST_BDD,
}
#: the same, as the names of packages begin
FAMILIES: Final = {"reqnroll": REQNROLL, "specflow": SPECFLOW, "techtalk.specflow": SPECFLOW}
