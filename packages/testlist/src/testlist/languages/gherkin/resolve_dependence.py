"""What the rows of a feature file depend on: its own facts, and the layout of the repository."""

from testlist.kit.dependence import no_links, nothing

leads = nothing
outline = nothing
links = no_links
