"""Other names that a command goes by when rules are matched: `git -C sub push` is `git push`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ringfence.rules.commands import lookup
from ringfence.rules.model import UNKNOWN

HARMLESS = frozenset(
    ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "-q", "--quiet")
)
"""Options before a subcommand that change nothing about what it does."""

INERT = frozenset(("cd", "pushd", "popd", "true", "false", ":", "echo", "printf"))
"""Commands that do nothing by themselves beside others: where a ``cd`` leads, the gate for paths
judges, and what they print goes to a command that is judged."""

WRAPPERS = frozenset(
    (
        *("builtin", "caffeinate", "chronic", "chrt", "command", "env", "exec", "gtimeout"),
        *("ionice", "nice", "nocorrect", "noglob", "nohup", "setsid", "stdbuf", "taskset"),
        *("timeout", "unbuffer", "xargs"),
    )
)
"""Commands that run another as it is: what they run is judged. Not ``sudo``, which adds rights."""

LOADERS = frozenset(
    (
        *("BASHOPTS", "BASH_ENV", "BUNDLE_GEMFILE", "CARGO_HOME", "CC", "CLASSPATH"),
        *("CURL_HOME", "CVS_RSH", "CXX", "DOCKER_CONFIG", "DOTNET_STARTUP_HOOKS"),
        *("DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "ENV", "EXINIT", "GCONV_PATH"),
        *("GEM_HOME", "GEM_PATH", "GIT_ASKPASS", "GIT_COMMON_DIR", "GIT_CONFIG"),
        *("GIT_CONFIG_COUNT", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_PARAMETERS"),
        *("GIT_CONFIG_SYSTEM", "GIT_DIR", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND", "GIT_SSH"),
        *("GIT_TEMPLATE_DIR", "GNUMAKEFLAGS", "GOFLAGS", "GOROOT", "GOTOOLDIR"),
        *("GRADLE_OPTS", "HOME", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"),
        *("KUBECONFIG", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD", "LUA_CPATH"),
        *("LUA_INIT", "LUA_PATH", "MAKEFILES", "MAKEFLAGS", "MAVEN_OPTS", "NODE_OPTIONS"),
        *("NODE_PATH", "OPENSSL_CONF", "PATH", "PERL5DB", "PERL5LIB", "PERL5OPT"),
        *("PERLLIB", "PHPRC", "PHP_INI_SCAN_DIR", "PROMPT_COMMAND", "PS4"),
        *("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP"),
        *("PYTHONUSERBASE", "RSYNC_RSH", "RUBYLIB", "RUBYOPT", "RUSTC"),
        *("RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "RUSTFLAGS", "RUSTUP_HOME"),
        *("R_ENVIRON", "R_PROFILE", "R_PROFILE_USER", "SHELL", "SHELLOPTS", "SSH_ASKPASS"),
        *("TAR_OPTIONS", "VIMINIT", "XDG_CONFIG_HOME", "ZDOTDIR", "_JAVA_OPTIONS"),
        *("npm_config_script_shell", "npm_config_userconfig"),
    )
)
"""Variables that say which code runs, whatever the command is named. Those whose value is itself a
command (``GIT_PAGER``) are read as one instead."""


def without_options(words: Sequence[str]) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """The command from its subcommand on, if options stand before that.

    The first answer is for rules that allow: only options that say where (``git -C sub``) or are
    harmless were left out. The second, for rules that ask or deny, leaves out all of them. None
    where there is nothing to leave out.
    """
    if len(words) < 3 or not words[1].startswith("-"):
        return None, None
    entry = lookup(words[0])
    if entry is None or not entry.commands:
        return None, None
    harmless = True
    index = 1
    while index < len(words) and words[index].startswith("-"):
        name, equals, _ = words[index].partition("=")
        option = entry.option(name)
        takes = option is not None and bool(option.values) and not option.optional
        moves = option is not None and bool(option.values) and option.values[0].kind == "base"
        harmless = harmless and (moves or name in HARMLESS)
        index += 2 if takes and not equals else 1
    if index >= len(words):
        return None, None
    left = (words[0], *words[index:])
    return (left if harmless else None), left


def is_inert(words: Sequence[str]) -> bool:
    """Whether the command, without redirections, does nothing by itself."""
    return bool(words) and (words[0] in INERT or tuple(words) == ("cat",))


def is_wrapper(words: tuple[str, ...], run: Collection[tuple[str, ...]]) -> bool:
    """Whether it only runs one of the commands ``run``: ``timeout 5 x``, if ``x`` is."""
    if not words or words[0] not in WRAPPERS:
        return False
    if any(word.partition("=")[0] in LOADERS for word in words[1:]):
        return False
    return any(words[n:] in run for n in range(1, len(words)))


def bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command without the unknown arguments at its end, which xargs adds."""
    end = len(words)
    while end > 1 and words[end - 1] == UNKNOWN:
        end -= 1
    return words[:end]


_RUNS = frozenset(
    (
        *("words", "command", "shell", "exec", "split", "program", "runs", "arguments"),
        *("key", "setting"),
    )
)
"""Kinds of operands that say which other program runs, or (settings) what will run later."""

_RUNS_OTHERS = frozenset(
    ("exec", "x", "dlx", "eval", "foreach", "config", "rebase", "bisect", "workspace")
)
"""Subcommands that do so by an option, or somewhere else."""


def subcommand_end(words: Sequence[str]) -> int | None:
    """Behind which word a subcommand is named in full: ``git -C sub push`` at 4.

    None if the command is not known to have subcommands, if it is not known which one this is,
    or if it runs what its arguments say (``docker exec``). Of ``npm run build`` the script's name
    belongs to it.
    """
    entry = lookup(words[0]) if words else None
    if entry is None or not entry.commands:
        return None
    index = 1
    while index < len(words) and words[index].startswith("-"):
        name, equals, _ = words[index].partition("=")
        option = entry.option(name)
        takes = option is not None and bool(option.values) and not option.optional
        index += 2 if takes and not equals else 1
    commands: Mapping[str, Any] = entry.commands
    while index < len(words) and words[index] != "*" and words[index] in commands:
        name, data = words[index], commands[words[index]]
        index += 1
        if name in _RUNS_OTHERS or not isinstance(data, Mapping):
            return None
        if not data.get("commands"):
            return _operands_end(data, words, index)
        commands = {name: v for names, v in data["commands"].items() for name in names.split()}
    return None


def _operands_end(data: Mapping[str, Any], words: Sequence[str], index: int) -> int | None:
    operands = [str(operand).split()[0].removesuffix("...") for operand in data.get("operands", ())]
    kinds = {operand.partition(":")[0] for operand in operands}
    if operands[:1] == ["name"] and kinds <= {"name", "arguments", "text"}:
        named = index < len(words) and not words[index].startswith("-")
        return index + 1 if named else None
    return index if kinds.isdisjoint(_RUNS) else None
