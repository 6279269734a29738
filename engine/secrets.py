"""What a log must not keep: passwords, tokens and keys, masked where a text shows them.

Names and forms are those that the services document for their own tokens. A mask keeps what stands
around the secret, so that the line can still be read.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

MASK: Final = "***"

_NAMED = (
    r"[\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|credentials?|auth[_-]?key)[\w-]{0,40}"
)
_VALUE = r"""(?:"[^"\n]{1,4000}"|'[^'\n]{1,4000}'|[^\s"'&;|,)}\]]{1,4000})"""

_SECRETS: Final = (
    # https://user:password@host
    r"(?P<before>[a-z][a-z0-9+.-]{0,20}://[^\s:/@'\"]{0,200}:)[^\s/@'\"]{1,400}(?=@)",
    # Authorization: Bearer …, and headers and cookies that are keys
    (
        r"(?P<before>\b(?:proxy-)?authorization['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:[a-z]{1,20}\s+)?)"
        r"[^\s'\"]{4,4000}"
    ),
    r"(?P<before>\b(?:set-)?cookie['\"]?:\s{0,3})[^'\"\n]{1,4000}",
    # PASSWORD=…, "token": "…", --api-key …
    rf"(?P<before>(?<![\w-]){_NAMED}['\"]?\s{{0,3}}[:=]\s{{0,3}}(?!\$|['\"]\$)){_VALUE}",
    rf"(?P<before>(?<![\w-])--{_NAMED}\s{{1,3}}(?!-|\$|['\"]\$)){_VALUE}",
    # curl -u user:password
    r"(?P<before>(?<!\S)(?:-u|--user|--proxy-user)[\s=]{0,3}['\"]?[^\s:'\"]{1,200}:)[^\s'\"]{1,400}",
    # tokens that say what they are
    (
        r"(?P<before>\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|sk-|sk_live_|rk_live_|npm_|pypi-"
        r"|dop_v1_|hf_|AKIA|ASIA|AIza|ya29\.))[\w.\-]{10,400}"
    ),
    r"(?P<before>\beyJ)[\w-]{8,4000}\.[\w-]{8,4000}\.[\w-]{4,4000}",
    r"(?P<before>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]{1,20000}",
)


@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    """On first use: most calls leave nothing in the log."""
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in _SECRETS)


def masked(text: str) -> str:
    """The text with every secret that it shows replaced by ``***``."""
    for secret in _compiled():
        text = secret.sub(rf"\g<before>{MASK}", text)
    return text


def masked_values(value: Any) -> Any:
    """The same for all texts in a JSON value; what a key calls a secret is masked as a whole."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [masked_values(item) for item in value]
    if isinstance(value, dict):
        return {
            key: MASK if isinstance(item, str) and _is_secret(str(key)) else masked_values(item)
            for key, item in value.items()
        }
    return value


def _is_secret(key: str) -> bool:
    return re.fullmatch(_NAMED, key, re.IGNORECASE) is not None
