"""Specifications: how they are asked for, priced, written, read and shared."""
