"""What can be wrong with a config file."""

from __future__ import annotations


class ConfigError(ValueError):
    """A config file that cannot be used, and where in it the reason stands.

    ``line`` counts from 1 and is None if the file could not be read at all; ``key`` is the
    dotted path of the offending key, empty for the file as a whole; ``keys`` are its parts.
    """

    def __init__(
        self,
        file: str,
        line: int | None,
        key: str,
        problem: str,
        hint: str | None = None,
        keys: tuple[str, ...] = (),
    ) -> None:
        super().__init__(file, line, key, problem, hint, keys)
        self.file = file
        self.line = line
        self.key = key
        self.problem = problem
        self.hint = hint
        self.keys = keys

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        parts = [place, f"{self.key}: {self.problem}" if self.key else self.problem]
        text = ": ".join(parts)
        return f"{text} ({self.hint})" if self.hint else text
