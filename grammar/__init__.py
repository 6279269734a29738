"""Bash syntax: from text to a tree of frozen attrs classes, by a declarative LALR grammar."""

from ringfence.grammar.errors import TooComplex, caret
from ringfence.grammar.parse import Grammar, bash, parse

__all__ = ["Grammar", "TooComplex", "bash", "caret", "parse"]
