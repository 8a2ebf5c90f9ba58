"""C#: what its files say, and what NUnit, xUnit, MSTest and TUnit make of it."""
