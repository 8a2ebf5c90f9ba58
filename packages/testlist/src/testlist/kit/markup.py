"""XML configuration as a flat list of elements; entities are refused, nothing outside the file is read."""

from dataclasses import dataclass, field
from typing import Any, Final
from xml.parsers import expat

#: deeper than any honest configuration
DEPTH: Final = 64
#: characters of text an element keeps
LONGEST: Final = 4_096


@dataclass(slots=True)
class Element:
    """One element.  above: the elements around it, outermost first."""

    name: str
    values: dict[str, str]
    above: tuple["Element", ...] = ()
    text: str = ""

    def inside(self, name: str) -> bool:
        """Whether it stands in an element of this name."""
        return any(one.name == name for one in self.above)


@dataclass(slots=True)
class _Reading:
    found: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def start(self, name: str, values: dict[str, str]) -> None:
        if len(self.open) >= DEPTH:
            raise ValueError("nested too deep")
        element = Element(name.rpartition(":")[2], values, tuple(self.open))
        self.found.append(element)
        self.open.append(element)

    def end(self, _: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        if self.open and len(self.open[-1].text) < LONGEST:
            self.open[-1].text += text[:LONGEST]


def elements(source: bytes) -> list[Element]:
    """Every element in document order.  Raises: ValueError, expat.ExpatError for what is no plain XML."""
    reading = _Reading()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.data
    parser.EntityDeclHandler = _refuse
    parser.Parse(source, True)
    return reading.found


def _refuse(*_: Any) -> None:
    raise ValueError("entities are not read")
