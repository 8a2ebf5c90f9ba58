"""The test frameworks of C#, a file each."""
