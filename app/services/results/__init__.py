"""Reading the results of analyses: tests, files, sheets, differences."""
