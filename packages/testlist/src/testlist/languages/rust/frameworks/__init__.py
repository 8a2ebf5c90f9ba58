"""The test frameworks of Rust, a file each."""
