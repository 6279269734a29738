"""What the log must not keep, and what must stay readable."""

from __future__ import annotations

import pytest

from ringfence.engine.secrets import masked, masked_values

MASKED_VARIABLES = "PW=*** GITHUB_PAT=*** MYSQL_PWD=*** REDISCLI_AUTH=*** z"
MASKED_CONFIGURE = "aws configure set aws_secret_access_key ***"


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
        ("export DB_PASS=hunter2", "export DB_PASS=***"),
        ("PW=hunter2 GITHUB_PAT=abc MYSQL_PWD=x REDISCLI_AUTH=y z", MASKED_VARIABLES),
        ("PASSWORD=$'a\\'b' ls", "PASSWORD=*** ls"),
        ("PASSWORD='$ecret' ls", "PASSWORD=*** ls"),
        ('PASSWORD=hun"ter 2"x,y ls', "PASSWORD=*** ls"),
        ('{"token":"a","x":1}', '{"token":***,"x":1}'),
        ("mysql -u root -phunter2 db", "mysql -u root -p*** db"),
        ("mysqldump -p'a b' db", "mysqldump -p*** db"),
        ("sshpass -p hunter2 ssh x", "sshpass -p *** ssh x"),
        ("/usr/bin/sshpass -phunter2 ssh x", "/usr/bin/sshpass -p*** ssh x"),
        ("docker login -u me -p hunter2 host", "docker login -u me -p *** host"),
        ("aws configure set aws_secret_access_key abc", MASKED_CONFIGURE),
        ("npm config set //r.io/:_authToken abc", "npm config set //r.io/:_authToken ***"),
        ("openssl enc -aes-256-cbc -k abc -in x", "openssl enc -aes-256-cbc -k *** -in x"),
        ("openssl rsa -passin pass:abc -in x", "openssl rsa -passin pass:*** -in x"),
        ("openssl enc -pass 'pass:abc' -in x", "openssl enc -pass 'pass:***' -in x"),
        ("zip -r -P abc x.zip y", "zip -r -P *** x.zip y"),
        ("7z a -pabc x.7z y", "7z a -p*** x.7z y"),
        ("redis-cli -h x -a abc ping", "redis-cli -h x -a *** ping"),
        ("vault login abc", "vault login ***"),
        ("vault login -no-print abc", "vault login -no-print ***"),
        ("ldapsearch -x -w abc -b dc=x", "ldapsearch -x -w *** -b dc=x"),
        ("curl -b sid=abc x", "curl -b *** x"),
        ("curl --cookie 'sid=abc; a=b' x", "curl --cookie *** x"),
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
        "PWD=/x BYPASS=1 PATH=/bin ls",
        "mysql -p -P 3306 db",
        "docker run -p 80:80 x",
        "git config credential.helper store",
        "mkdir -p a; zip -r a.zip b",
        "sshpass -p $PW ssh x",
        "vault login -method=oidc role=dev",
        "curl -b cookies.txt x",
        "ls; cp -p a b",
        "sort -k 2 x; openssl version",
    ],
)
def test_what_is_no_secret_stays(text):
    """A reader must see what was asked about."""
    assert masked(text) == text


def test_keys_of_an_input():
    """An MCP tool's input says by its key that it holds a secret."""
    found = masked_values({"api_key": "abc", "list": ["TOKEN=x"], "n": 1, "path": "/etc/x"})
    assert found == {"api_key": "***", "list": ["TOKEN=***"], "n": 1, "path": "/etc/x"}


def test_whatever_a_secret_key_holds():
    """Lists and objects in it too, and what a header is for."""
    found = masked_values(
        {
            "headers": {"Authorization": "Basic x", "Cookie": "a", "Accept": "b"},
            "token": ["X", {"a": "Y"}],
            "creds": {"secret": {"a": "Z"}, "user": "u"},
            "dbPass": "x",
            "max_tokens": 3,
        }
    )
    assert found == {
        "headers": {"Authorization": "***", "Cookie": "***", "Accept": "b"},
        "token": ["***", {"a": "***"}],
        "creds": {"secret": {"a": "***"}, "user": "***"},
        "dbPass": "***",
        "max_tokens": 3,
    }


@pytest.mark.parametrize(
    "text",
    [
        "mysql " * 3000,
        "config set " * 1500,
        "a_" * 8000,
        "vault login -x " * 1000,
        "PASSWORD=" * 1500,
    ],
)
def test_no_text_takes_long(text):
    """Hostile commands are logged as well: this must end."""
    assert masked(text)
