"""What a log must not keep: passwords, tokens and keys, masked where a text shows them.

Names and forms are those that the services document for their own tokens. A mask keeps what stands
around the secret, so that the line can still be read.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from ringfence.grammar.regex import compiled

MASK: Final = "***"

_NAMED = (
    r"(?:[\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key"
    r"|(?:private|auth|encryption|signing|master|account)[_-]?key|credentials?)[\w-]{0,40}"
    # Short words, which are parts of others: alone, or as the last of several.
    r"|(?:[\w-]{0,40}[_-])?(?:pass|pw|psw|pat|creds?)|[\w-]{1,40}[_-](?:pwd|auth)"
    r"|(?-i:[a-z]{1,20}Pass))"
)
_PIECE = r"""\$?"[^"\n]{0,4000}"|\$?'(?:\\.|[^'\\\n]){0,4000}'"""
_VALUE = rf"""(?:{_PIECE}|[^\s"'&;|,)}}\]]|,(?![\s"'])){{1,4000}}"""
_WORD = rf"""(?![-$]|"\$)(?:{_PIECE}|[^\s"'&;|]){{1,4000}}"""


def _of(programs: str, options: str) -> str:
    """The expression of what stands behind options of some programs."""
    begin = rf"(?<![\w-])(?:{programs})(?![\w-])[^;&|\n]{{0,1000}}?"
    return rf"(?P<before>{begin}\s(?-i:{options})){_WORD}"


_SECRETS: Final = (
    # https://user:password@host
    r"(?P<before>[a-z][a-z0-9+.-]{0,20}://[^\s:/@'\"]{0,200}:)[^\s/@'\"]{1,400}(?=@)",
    # Authorization: Bearer …, and headers and cookies that are keys
    (
        r"(?P<before>\b(?:proxy-)?authorization['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:[a-z]{1,20}\s+)?)"
        r"[^\s'\"]{4,4000}"
    ),
    r"(?P<before>\b(?:set-)?cookie['\"]?:\s{0,3})[^'\"\n]{1,4000}",
    # PASSWORD=…, "token": "…", --api-key …, npm config set //host/:_authToken …
    rf"(?P<before>(?<![\w-]){_NAMED}['\"]?\s{{0,3}}[:=]\s{{0,3}}(?!\$(?!['\"])|\"\$)){_VALUE}",
    rf"(?P<before>(?<![\w-])--{_NAMED}\s{{1,3}}(?!-|\$(?!['\"])|\"\$)){_VALUE}",
    rf"(?P<before>(?<![\w-])(?:config|set)\s{{1,3}}[^\s=]{{0,200}}?(?<![\w-]){_NAMED}\s{{1,3}}){_WORD}",
    # The options that some programs have for them, which others have for something else
    _of("mysql(?:dump|admin|import|show|check)?|mariadb(?:-dump|-admin)?|7z[arz]?|rar|unrar", "-p"),
    _of("sshpass|mongo(?:sh|dump|restore|export|import)?", r"-p\s{0,3}"),
    _of(r"(?:docker|podman|nerdctl|buildah|skopeo|oc|az|helm\s+registry)\s+login", r"-p\s{0,3}"),
    _of("zip|unzip|zipcloak|sqlcmd|bcp", r"-P\s{0,3}"),
    _of("redis-cli", r"-a\s{0,3}"),
    _of("ldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn)", r"-w\s{0,3}"),
    _of("openssl", r"-[kK]\s{1,3}|-pass(?:in|out|wd)?\s{1,3}['\"]?pass:"),
    _of(r"vault\s+login(?:\s+-\S{1,200}){0,9}", r"(?=[^\s=]{1,4000}(?:\s|$))"),
    _of("curl", r"(?:-b|--cookie)[\s=]{0,3}(?=[^\s]{0,200}=)"),
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
    return tuple(compiled(pattern, re.IGNORECASE) for pattern in _SECRETS)


def masked(text: str) -> str:
    """The text with every secret that it shows replaced by ``***``."""
    for secret in _compiled():
        text = secret.sub(rf"\g<before>{MASK}", text)
    return text


def masked_values(value: Any) -> Any:
    """The same for all texts in a JSON value; what a key calls a secret is masked as a whole."""
    return _masked(value, secret=False)


def _masked(value: Any, *, secret: bool) -> Any:
    if isinstance(value, str):
        return MASK if secret else masked(value)
    if isinstance(value, list):
        return [_masked(item, secret=secret) for item in value]
    if isinstance(value, dict):
        return {
            key: _masked(item, secret=secret or _is_secret(str(key))) for key, item in value.items()
        }
    return value


def _is_secret(key: str) -> bool:
    return re.fullmatch(rf"{_NAMED}|{_HEADER}", key, re.IGNORECASE) is not None


_HEADER = r"(?:proxy-)?authorization|(?:set-)?cookies?|x-auth[\w-]{0,40}"
