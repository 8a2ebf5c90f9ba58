"""C#: what its files say, and what NUnit, xUnit and MSTest make of it."""
