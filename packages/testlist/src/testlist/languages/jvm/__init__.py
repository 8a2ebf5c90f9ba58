"""Java, Kotlin and Groovy: what a file declares, and what the runners of the JVM make of it."""
