"""Connections, transactions and the clock of the database: what every other room of the store stands on."""
