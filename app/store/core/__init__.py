"""Connections, transactions and the clock of the database, which all other rooms of the store use."""
