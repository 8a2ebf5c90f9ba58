"""What the rows of a Bats file depend on: its own facts alone."""

from testlist.kit.dependence import no_links, nothing

leads = nothing
outline = nothing
links = no_links
