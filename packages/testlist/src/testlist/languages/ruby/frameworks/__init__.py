"""The test frameworks of Ruby, a file each."""
