"""Where a function that is called in a body stands: in its file, in another one, or in a class above its own."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Final, NamedTuple, cast

from testlist.kit.bodies import BodiesFact, BodyFact
from testlist.language import Calls, Candidate
from testlist.languages import OWNERS, language_of
from testlist.model import Facts
from testlist.paths import Paths

#: what a method calls itself on
ITSELF: Final = ("self", "cls")
#: bases of one class, and places where one name may come from
MOST_BASES, MOST_CANDIDATES = 20, 20
#: an area of more files is not read
LARGEST_AREA: Final = 500
#: files from one to another by bases that are read
STEPS: Final = 3


class Found(NamedTuple):
    """A function and its file; both are empty for none."""

    file: str = ""
    body: BodyFact | None = None


class Itself(NamedTuple):
    """The class of the object that a test is run on, whose methods take the place of those that it inherits."""

    file: str
    around: str


@dataclass(slots=True)
class Homes:
    """The functions of the files read so far.

    facts: by path; by_name, by_last: path -> its functions, by_last by the last part of their names; candidates: (path,
    called name) -> where it may be; lines: (path, class) -> its bases; areas: language -> area -> its files; shared:
    area -> unit and name -> the only function; above: area -> class -> its bases.
    """

    paths: Paths
    facts: dict[str, BodiesFact] = field(default_factory=dict)
    by_name: dict[str, dict[str, BodyFact]] = field(default_factory=dict)
    by_last: dict[str, dict[str, list[BodyFact]]] = field(default_factory=dict)
    candidates: dict[tuple[str, str], tuple[Candidate, ...]] = field(default_factory=dict)
    lines: dict[tuple[str, str], tuple[Candidate, ...]] = field(default_factory=dict)
    areas: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    shared: dict[str, dict[tuple[str, str], Found | None]] = field(default_factory=dict)
    above: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def learn(self, path: str, facts: Facts) -> None:
        """Keep the functions of a file, whatever its facts are."""
        functions = cast(BodiesFact, facts)["functions"] if "functions" in facts else []
        last: dict[str, list[BodyFact]] = {}
        for body in functions:
            last.setdefault(body["name"].rpartition(".")[2], []).append(body)
        self.by_name[path] = {body["name"]: body for body in functions}
        self.by_last[path] = last
        self.facts[path] = cast(BodiesFact, {**facts, "functions": functions})

    def find(self, path: str, body: BodyFact, called: str, *, is_own: bool, itself: Itself | None = None) -> Found:
        """The function of the repository that a call in a body means.

        is_own: the body stands in the file of the test.  Of any other file, what it has from a third one is not read.
        itself: what a method of another class was called on, if that is known.
        """
        own = self.by_name.get(path, {})
        owner, _, last = called.rpartition(".")
        if owner in ITSELF:
            around = around_of(body)
            if itself is not None and itself != (path, around) and (found := self._method(itself, last)).body:
                return found
            is_known = bool(around and _bases(self.facts[path]).get(around))
            same = self.by_last.get(path, {}).get(last, []) if not is_known else []
            if (here := own.get(f"{around}.{last}" if around else last)) is not None:
                return Found(path, here)
            inherited = self._first(self._line(path, around), last) if is_own else Found()
            return inherited if inherited.body or len(same) != 1 else Found(path, same[0])
        if called in own:
            return Found(path, own[called])
        return self._first(self.homes(path, called), "") if is_own else Found()

    def _method(self, itself: Itself, last: str) -> Found:
        """The method of an object, wherever its class has it from."""
        found = self.by_name.get(itself.file, {}).get(f"{itself.around}.{last}")
        return Found(itself.file, found) if found is not None else self._first(self._line(*itself), last)

    def subject(self, path: str, called: str) -> str:
        """What a call calls of the repository, as `file:name`; empty for nothing that is known."""
        candidates = self.homes(path, called)
        found = self._first(candidates, "")
        if found.body is not None:
            return f"{found.file}:{found.body['name']}"
        certain = next((one for one in candidates if one.certain), None)
        return f"{certain.place}:{certain.name}" if certain is not None else ""

    def leads(self, path: str, *, calls: bool) -> set[str]:
        """Files that have to be read to say where functions stand that a file calls, or those of its bases."""
        if path not in self.facts:
            return set()
        facts = self.facts[path]
        names = {base for bases in _bases(facts).values() for base in bases}
        if calls:
            names |= {call for body in facts["functions"] for call in body["calls"]}
        places = {one.place for name in sorted(names) for one in self.homes(path, name)}
        return {file for place in places for file in self._files(place, path)}

    def surrounded(self, path: str, body: BodyFact) -> bool:
        """Whether a file that this one asks for runs something around a test: around its class, one above, or all."""
        around = around_of(body)
        classes = {"", *(one.name for one in self._line(path, around)), *_bases(self.facts[path]).get(around, ())}
        found, level = set[str](), {path}
        for _ in range(STEPS):
            level = {one.place for file in level for one in self.homes(file, "")} - found
            found |= level
        return any(classes.intersection(self.facts[file].get("hooks", ())) for file in found if file in self.facts)

    def homes(self, path: str, called: str) -> tuple[Candidate, ...]:
        """Where a called name of a file may come from, the likeliest first."""
        if (path, called) not in self.candidates:
            calls = calls_of(language_of(path))
            imports: Mapping[str, str] = self.facts[path].get("imports", {}) if path in self.facts else {}
            found = () if calls is None else calls.home(path, called, imports, self.paths)
            self.candidates[path, called] = tuple(islice(found, MOST_CANDIDATES))
        return self.candidates[path, called]

    def _first(self, candidates: Collection[Candidate], last: str) -> Found:
        """The first of some places that has a function.  last: of a method, of the classes by these names."""
        for one in candidates:
            name = f"{one.name}.{last}" if one.name and last else one.name or last
            if one.place not in self.paths:
                found = self._of_area(one.place).get((one.unit, name))
            else:
                body = self.by_name.get(one.place, {}).get(name)
                found = None if body is None or not self._is_of(one) else Found(one.place, body)
            if found is not None:
                return found
        return Found()

    def _is_of(self, candidate: Candidate) -> bool:
        """Whether a file belongs to the unit that it has to be of."""
        return candidate.unit in ("", unit_of(self.facts.get(candidate.place)))

    def _line(self, path: str, around: str) -> tuple[Candidate, ...]:
        """The classes that a class inherits from, the nearest first, and no more files than are read for it."""
        if (path, around) not in self.lines:
            todo, line = [(Candidate(path, around), path, 0)], dict[Candidate, None]()
            for one, file, steps in todo:
                for base in self._bases_of(one)[:MOST_BASES] if len(line) < MOST_CANDIDATES else ():
                    own = [(Candidate(one.place, base), file, steps)] if base != one.name else []
                    others = self.homes(file, base) if steps < STEPS else ()
                    there = ((other, other.place if other.place in self.paths else file, steps + 1) for other in others)
                    above = (each for each in (*own, *there) if each[0] not in line and self._is_class(each[0]))
                    new = list(islice(above, MOST_CANDIDATES - len(line)))
                    line.update((each[0], None) for each in new)
                    todo += new
            self.lines[path, around] = tuple(line)
        return self.lines[path, around]

    def _is_class(self, one: Candidate) -> bool:
        """Whether a class stands where it may be, as far as its file says; methods outside of classes may be in any."""
        return not one.name or one.place not in self.paths or one.name in _bases(self.facts.get(one.place, {}))

    def _bases_of(self, one: Candidate) -> Sequence[str]:
        """What a class inherits from, wherever it stands in a file or an area."""
        if one.place in self.paths:
            return _bases(self.facts.get(one.place, {})).get(one.name, ())
        if one.place not in self.above:
            found: dict[str, list[str]] = {}
            for path in self._members(one.place):
                for name, bases in _bases(self.facts.get(path, {})).items():
                    found.setdefault(name, []).extend(bases)
            self.above[one.place] = found
        return self.above[one.place].get(one.name, ())

    def _members(self, area: str) -> Sequence[str]:
        """The files of an area, unless they are too many."""
        files = next((those[area] for those in self.areas.values() if area in those), [])
        return files if len(files) <= LARGEST_AREA else ()

    def _files(self, place: str, path: str) -> Collection[str]:
        """The files of a place that a file leads to."""
        if place in self.paths:
            return (place,)
        language = language_of(path) or ""
        if language not in self.areas:
            self.areas[language] = self._divided(language)
        return self._members(place)

    def _divided(self, language: str) -> dict[str, list[str]]:
        """All files of a language by their areas."""
        area: Callable[[str], str] | None = getattr(calls_of(language), "area", None)
        found: dict[str, list[str]] = {}
        for path in self.paths if area is not None else ():
            if language_of(path) == language and area is not None and (name := area(path)):
                found.setdefault(name, []).append(path)
        return found

    def _of_area(self, area: str) -> dict[tuple[str, str], Found | None]:
        """The functions of an area by unit and name; None where several have one name."""
        if area not in self.shared:
            names: dict[tuple[str, str], Found | None] = {}
            for path in self._members(area):
                unit = unit_of(self.facts.get(path))
                for body in self.by_name.get(path, {}).values():
                    key = unit, body["name"]
                    names[key] = None if key in names else Found(path, body)
            self.shared[area] = names
        return self.shared[area]


def around_of(body: BodyFact) -> str:
    """The class that a function stands in; empty for none."""
    return body["around"] if "around" in body else body["name"].rpartition(".")[0]


def _bases(facts: Mapping[str, Any]) -> Mapping[str, list[str]]:
    return cast(Mapping[str, list[str]], facts.get("bases", {}))


def unit_of(facts: Mapping[str, Any] | None) -> str:
    """What the names of a file belong to."""
    return str((facts or {}).get("unit", ""))


@cache
def calls_of(language: str | None) -> Calls | None:
    """How names of a language are followed; None if nobody knows."""
    return None if language is None else OWNERS[language].follow()
