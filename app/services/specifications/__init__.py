"""Specifications: their submission, price, generation, reading and sharing."""
