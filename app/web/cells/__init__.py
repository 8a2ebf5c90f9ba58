"""Each request to the cell in which its account lives: the outermost part of a web with several cells."""
