"""What the log must not keep, and what must stay readable."""

from __future__ import annotations

import pytest

from ringfence.engine.secrets import masked, masked_values


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git clone https://me:hunter22@host/x.git", "git clone https://me:***@host/x.git"),
        (
            'curl -H "Authorization: Bearer abcdef123" https://x',
            'curl -H "Authorization: Bearer ***" https://x',
        ),
        ("curl -H 'authorization: abcdef123'", "curl -H 'authorization: ***'"),
        ("curl -H 'X-Api-Key: abc' x", "curl -H 'X-Api-Key: ***' x"),
        ("curl -u me:hunter2 x", "curl -u me:*** x"),
        ("curl --user=me:hunter2 x", "curl --user=me:*** x"),
        ("curl -b 'Cookie: a=b; c=d' x", "curl -b 'Cookie: ***' x"),
        ("DB_PASSWORD=hunter2 ./run", "DB_PASSWORD=*** ./run"),
        ("export AWS_SECRET_ACCESS_KEY='a b'", "export AWS_SECRET_ACCESS_KEY=***"),
        ('{"token": "abc", "x": 1}', '{"token": ***, "x": 1}'),
        ("gh auth --with-token abc", "gh auth --with-token ***"),
        ("mysql --password=hunter2 db", "mysql --password=*** db"),
        ("echo ghp_0123456789abcdef0123", "echo ghp_***"),
        ("aws AKIAIOSFODNN7EXAMPLE", "aws AKIA***"),
        ("x sk-proj-0123456789abcdef y", "x sk-*** y"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0", "eyJ***"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----",
        ),
    ],
)
def test_secrets_are_masked(text, shown):
    """And nothing else of the line."""
    assert masked(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "cat ../tokenizer/data.txt",
        "grep -rn password src",
        "ls secrets/",
        "PASSWORD=$DB_PASSWORD ./run",
        'curl -H "X-Token: $TOKEN" x',
        "git log --author=me:you",
        "https://host:8080/a@b",
        "ssh user@host:/x",
        "python tokens.py --count 3",
    ],
)
def test_what_is_no_secret_stays(text):
    """A reader must see what was asked about."""
    assert masked(text) == text


def test_keys_of_an_input():
    """An MCP tool's input says by its key that it holds a secret."""
    found = masked_values({"api_key": "abc", "list": ["TOKEN=x"], "n": 1, "path": "/etc/x"})
    assert found == {"api_key": "***", "list": ["TOKEN=***"], "n": 1, "path": "/etc/x"}
