"""The test frameworks of the JVM, a file each."""
