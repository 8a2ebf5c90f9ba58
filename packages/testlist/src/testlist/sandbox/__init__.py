"""What git and parsing children may do, and the process that starts them.  Imported by that process: it stays small."""
