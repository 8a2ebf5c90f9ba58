"""C++ and Objective-C, which share headers and `.mm`, as the engine knows them: read as tokens, without a grammar."""

from typing import Final

from testlist.language import Format, Hints, Language, Libraries, Syntax

CPP: Final = Language(
    name="cpp",
    syntaxes=(
        Syntax(
            id="cpp",
            suffixes=(
                *("cc", "cpp", "cxx", "c++", "C", "cu", "mm"),
                *("h", "hh", "hpp", "hxx", "h++", "cuh", "inc", "inl", "ipp", "tcc", "tpp"),
            ),
            lenient=True,
            bodies="cpp-bodies",
        ),
        Syntax(id="objective-c", suffixes=("m",), reader="facts_objc", lenient=True),
    ),
    formats=(Format("cpp-bodies", "checks", lenient=True, on_demand=True),),
    calls="resolve_calls",
    hints=Hints(noise="doctest gtest sizeof std typeof"),
    libraries=Libraries(
        checks=(
            "src/catch2/catch_test_macros.hpp",
            "googletest/src/gtest.cc",
            "doctest/parts/doctest_fwd.h",
            "boost/test/tools/assertion.hpp",
        ),
        layouts={
            "include/gtest/gtest.h": r"(?i)g(?:oogle[-_]?)?test",
            "include/gmock/gmock.h": r"(?i)g(?:oogle[-_]?)?mock",
            "src/catch2/catch_test_macros.hpp": r"(?i)catch",
            "single_include/catch2/catch.hpp": r"(?i)catch",
            "doctest/parts/doctest_fwd.h": r"(?i)doctest",
        },
        beside=(("googletest", "googlemock"), ("googlemock", "googletest")),
    ),
    binds_late=False,
)
