"""Released projects that ship their tests, listed by their own runners and by the engine, and how far the two agree."""
