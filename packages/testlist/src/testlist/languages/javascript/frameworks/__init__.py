"""The test frameworks of JavaScript and TypeScript, a file each."""
