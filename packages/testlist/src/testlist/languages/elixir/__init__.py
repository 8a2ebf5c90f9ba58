"""Elixir: what a file declares, and what ExUnit makes of it."""
