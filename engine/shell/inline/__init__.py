"""Inline programs, one module a language: which files they open, which commands they run."""
