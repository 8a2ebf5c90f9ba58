"""The results of analyses as they are read: tests, files, sheets, differences."""
