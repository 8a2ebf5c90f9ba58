"""The records of analyses, the inventories that they write, and what an accept looks up."""
