"""The expression of ``test`` and ``[``: which of its words are files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ringfence.rules.model import Field

_FILE_TESTS = frozenset(f"-{letter}" for letter in "abcdefghkprsuwxGLNOS")
_LINK_TESTS = frozenset(("-h", "-L"))
_FILE_COMPARISONS = frozenset(("-nt", "-ot", "-ef"))
_COMPARISONS = frozenset(
    ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", *_FILE_COMPARISONS)
)


def tested_files(argv: Sequence[Field], start: int) -> Iterator[tuple[int, bool]]:
    """Indexes of the words of a test that name files, and whether links are followed.

    A word between two others is a comparison if it can be one, as bash decides it: in
    ``[ -f = x ]`` nothing is a file. ``-a`` before a word that stands first is a file test,
    between two expressions it is the and-operator.
    """
    index = start
    end = len(argv)
    while index < end:
        text = argv[index].text
        if index + 2 < end and argv[index + 1].text in _COMPARISONS:
            if argv[index + 1].text in _FILE_COMPARISONS:
                yield index, True
                yield index + 2, True
            index += 3
        elif text in _FILE_TESTS and index + 1 < end and not _joins(argv, start, index):
            yield index + 1, text not in _LINK_TESTS
            index += 2
        else:
            index += 1


def _joins(argv: Sequence[Field], start: int, index: int) -> bool:
    """Whether ``-a`` here is the operator between two expressions."""
    return argv[index].text == "-a" and index > start and argv[index - 1].text not in ("!", "(")
