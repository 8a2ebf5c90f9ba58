"""Dart: tests of package:test and of flutter_test, and classes of test_reflective_loader."""
