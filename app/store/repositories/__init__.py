"""Statements about repositories: their addresses, their commits and who bookmarked them."""
