"""C++: read as tokens, because macros that stand for whole functions break every grammar."""
