"""Rust: facts of files, macros, modules and the tests cargo would run."""
