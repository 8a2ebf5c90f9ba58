"""What the languages share: patterns of paths, plain formats, commands, and source without bodies."""
