"""Which cell an account lives in, and how it comes into another one."""
