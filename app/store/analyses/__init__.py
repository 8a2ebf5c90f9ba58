"""Repositories, their commits, and the inventories that analyses write."""
