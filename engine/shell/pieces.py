"""Pieces of a word under expansion, and word splitting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from ringfence.grammar.frozen import frozen


@frozen
class Piece:
    """A run of text that came about in one way.

    ``split`` is set for the result of an unquoted expansion, which word splitting looks at.
    ``pattern`` holds, for an extended pattern, the pattern that ``text`` was written as.
    """

    text: str
    quoted: bool = False
    split: bool = False
    steps: tuple[str, ...] = ()
    pattern: str | None = None


@frozen
class Break:
    """Where ``"$@"`` ends one field and begins the next."""


BREAK = Break()
Pieces: TypeAlias = list[Piece | Break]


def plain(pieces: Iterable[Piece | Break]) -> str:
    """The text of all pieces; fields are separated by a space."""
    return "".join(" " if isinstance(piece, Break) else piece.text for piece in pieces)


def steps(pieces: Iterable[Piece | Break]) -> tuple[str, ...]:
    """The steps of all pieces, each once."""
    return tuple(
        dict.fromkeys(s for piece in pieces if isinstance(piece, Piece) for s in piece.steps)
    )


def split(pieces: Sequence[Piece | Break], separators: str) -> list[list[Piece]]:
    """The fields that word splitting by ``$IFS`` makes of one word.

    A run of blanks ends a field; every other separator ends one too, be it empty.
    """
    fields: list[list[Piece]] = []
    current: list[Piece] | None = None
    closed_by_blank = False
    for piece in pieces:
        if isinstance(piece, Break):
            fields.append(current or [])
            current = []  # what follows a break is a field, be it empty
            continue
        if not piece.split or not separators:
            if piece.text or piece.quoted:
                current = _added(current, piece)
                closed_by_blank = False
            continue
        start = 0
        for index, character in enumerate(piece.text):
            if character not in separators:
                continue
            if index > start:
                current = _added(current, _part(piece, start, index))
                closed_by_blank = False
            start = index + 1
            if character in " \t\n":
                if current is not None:
                    fields.append(current)
                    current = None
                    closed_by_blank = True
            elif closed_by_blank:
                closed_by_blank = False
            else:
                fields.append(current or [])
                current = None
        if start < len(piece.text):
            current = _added(current, _part(piece, start, len(piece.text)))
            closed_by_blank = False
    if current is not None:
        fields.append(current)
    return fields


def _added(field: list[Piece] | None, piece: Piece) -> list[Piece]:
    """The field, begun if there is none, with one piece more."""
    if field is None:
        return [piece]
    field.append(piece)
    return field


def _part(piece: Piece, start: int, end: int) -> Piece:
    return Piece(piece.text[start:end], split=True, steps=piece.steps)
