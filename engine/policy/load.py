"""From config files to a policy.

Layers, the strongest last: built-in defaults, the user's file
(``$XDG_CONFIG_HOME/ringfence/config.toml``), the project's (``.ringfence/config.toml`` in the
working directory and in the folders above, the nearest last), the user's for one agent, the
project's for one agent (``agents.NAME`` in the same files, or ``agents/NAME.md`` beside them,
whose front matter holds it under ``permission``). Instead of ``.toml`` a file may be ``.json`` or
``.jsonc``; two of them side by side are an error, since one would be ignored.

A project's layers are *held*, they only tighten, until the user trusts them (``trust``), folder by
folder: what is compared is the very content that is then used.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ringfence.engine.policy.document import Document, Keys, content_of, parse
from ringfence.engine.policy.errors import ConfigError
from ringfence.engine.policy.model import CONFIG, Layer, LayeredPolicy
from ringfence.engine.policy.trust import TrustStore
from ringfence.engine.state import StrPath, misplaced, user_folder
from ringfence.grammar.records import evolve, frozen

if TYPE_CHECKING:
    from pathlib import Path

SUFFIXES = (".toml", ".json", ".jsonc")
_MARKDOWN = (".md", ".markdown")


@frozen
class Part:
    """What one file, or one of its tables for an agent, adds to the policy."""

    name: str  # as Layer has it
    document: Document
    keys: Keys = ()
    agent: str | None = None
    project: str = ""

    def layers(self) -> list[Layer]:
        """Its layers. Raises ConfigError."""
        # Many have no config file, and a hook that starts anew for each call loads as it goes.
        from ringfence.engine.policy.tables import agent_layers, layer  # noqa: PLC0415

        data: Any = self.document.data
        for key in self.keys:
            data = data[key]
        found = [layer(self.name, self.document, self.keys, data, self.agent)]
        if self.agent is None:
            found += agent_layers(self.name, self.document)
        return [evolve(one, project=self.project) for one in found] if self.project else found


def load_policy(
    cwd: str | None,
    *,
    config: str | None = None,
    env: Mapping[str, str] | None = None,
    roots: Iterable[str] = (),
) -> LayeredPolicy:
    """The policy for work in ``cwd`` (None: no project's file is looked for).

    ``roots`` are other folders of the same work; what their projects say only tightens, unless
    ``cwd`` is in them. ``config`` names one file that is used instead of the user's and the
    projects'. ``env`` is where HOME and the XDG variables are looked up, by default this process's
    variables. Raises ConfigError.
    """
    variables: Mapping[str, str] = os.environ if env is None else env
    if cwd is not None:
        _check_places(variables, (cwd, *roots))
    if config is not None:
        return LayeredPolicy(tuple(_single(config).layers()))
    layers = [
        one for part in folder_parts("global", user_folder(variables)) for one in part.layers()
    ]
    if cwd is not None:
        for root, is_around in _projects(cwd, roots):
            layers += _of_project(root, variables, may_loosen=is_around)
    # Stable: the user's layers for an agent before the project's, the outer project's before the
    # inner's.
    layers.sort(key=lambda layer: (layer.agent is not None, layer.project != ""))
    return LayeredPolicy(tuple(layers))


def _check_places(env: Mapping[str, str], work: Iterable[str]) -> None:
    """Raise ConfigError if the user's own folders are said to be where the agent works.

    A project may set variables, in a ``.env`` or the like: the rules that hold for the agent would
    be its own then.
    """
    found = misplaced(env, work)
    if found is not None:
        folder, place, variable = found
        problem = f"would be your own folder, but is inside {place}, where the agent works"
        hint = f"{variable} says so: unset it, or name a folder outside"
        raise ConfigError(folder, None, "", problem, hint)


def _projects(cwd: str, roots: Iterable[str]) -> Iterator[tuple[Path, bool]]:
    """Every project of the work, each once: the outermost first, and whether ``cwd`` is in it."""
    here = os.path.realpath(cwd)
    seen: set[str] = set()
    for folder in dict.fromkeys((*roots, cwd)):
        for root in project_roots(folder):
            real = os.path.realpath(root)
            if real not in seen:
                seen.add(real)
                yield root, f"{here}/".startswith(f"{real.rstrip('/')}/")


def _of_project(root: Path, env: Mapping[str, str], *, may_loosen: bool) -> list[Layer]:
    folder = root / ".ringfence"
    contents = contents_of(folder)
    own = [one for part in _parts("project", folder, contents) for one in part.layers()]
    trusts = bool(own) and may_loosen
    trusted = trusts and TrustStore.of_user(env).trusts(project_of(str(root)), contents)
    return [evolve(one, held=not trusted) for one in own]


def _single(config: str) -> Part:
    from pathlib import Path  # noqa: PLC0415 - it loads slowly, and many have no config file

    path = Path(config)
    content = content_of(path)
    if content is None:
        raise ConfigError(config, None, "", "there is no such file")
    return Part(CONFIG, parse(path, content))


def folder_parts(name: str, folder: StrPath) -> list[Part]:
    """What the config files of one folder say. Raises ConfigError."""
    return _parts(name, folder, contents_of(folder))


def project_root(cwd: str) -> Path:
    """The nearest folder, from ``cwd`` upwards, that has a ``.ringfence``; ``cwd`` if none has."""
    from pathlib import Path  # noqa: PLC0415 - as above

    roots = project_roots(cwd)
    return roots[-1] if roots else Path(cwd)


def project_roots(cwd: str) -> tuple[Path, ...]:
    """The folders, from the outermost down to ``cwd``, that have a ``.ringfence``.

    All of them count: one that came with a part of the project must not take the place of the
    project's own. Above ``cwd``, another user's does not: whoever may write to ``/tmp`` could stop
    all work in folders below it.
    """
    found = [cwd] if os.path.lexists(os.path.join(cwd, ".ringfence")) else []
    for folder in _above(os.path.realpath(cwd)):
        try:
            status = os.lstat(os.path.join(folder, ".ringfence"))
        except OSError:
            continue
        if status.st_uid == os.getuid():
            found.append(folder)
    if not found:
        return ()
    from pathlib import Path  # noqa: PLC0415 - as above

    return tuple(map(Path, reversed(found)))


def _above(path: str) -> Iterator[str]:
    """The folders above an absolute path, the nearest first."""
    while (folder := os.path.dirname(path)) != path:
        path = folder
        yield path


def project_of(cwd: str) -> Path:
    """The folder under which a project is trusted: links resolved."""
    from pathlib import Path  # noqa: PLC0415 - as above

    return Path(os.path.realpath(cwd))


def config_files(folder: StrPath) -> list[Path]:
    """The config files that there are in a folder, those of agents included.

    What is there but cannot be looked at is a ConfigError, not a file that is missing.
    """
    if not _is_folder(folder):
        return []
    from pathlib import Path  # noqa: PLC0415 - as above

    names = (Path(folder, f"config{suffix}") for suffix in SUFFIXES)
    return [path for path in (*names, *_agent_files(Path(folder, "agents"))) if _is_there(path)]


def _is_there(path: StrPath) -> bool:
    """Whether there is something of that name, be it a link that leads nowhere."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    return True


def _is_folder(path: StrPath) -> bool:
    """Whether there is a folder; False if nothing is there. Raises ConfigError."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError) as error:
        # Nor is anything there if all that leads to it is missing: but a link says that it is.
        above = next((one for one in (path, *_above(os.fspath(path))) if _is_there(one)), path)
        if os.path.islink(above) and not os.path.exists(above):
            raise ConfigError(str(above), None, "", "is a link that leads nowhere") from error
        return False
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if not stat.S_ISDIR(mode):
        raise ConfigError(str(path), None, "", "is no folder")
    return True


def _unreadable(path: StrPath, error: Exception) -> ConfigError:
    reason = getattr(error, "strerror", None) or str(error)
    return ConfigError(str(path), None, "", f"cannot be read: {reason}")


def contents_of(folder: StrPath) -> dict[Path, bytes]:
    """The content of each config file in a folder. Raises ConfigError."""
    found = ((path, content_of(path)) for path in config_files(folder))
    return {path: content for path, content in found if content is not None}


def _agent_files(folder: Path) -> list[Path]:
    """The Markdown files of agents, in a folder beside a config. Raises ConfigError."""
    if not _is_folder(folder):
        return []
    try:
        return sorted(path for path in folder.iterdir() if path.suffix.lower() in _MARKDOWN)
    except OSError as error:
        raise _unreadable(folder, error) from error


def _parts(name: str, place: StrPath, contents: Mapping[Path, bytes]) -> list[Part]:
    if not contents:
        return []
    from pathlib import Path  # noqa: PLC0415 - as above

    folder = Path(place)
    configs = [path for path in contents if path.parent == folder]
    if len(configs) > 1:
        problem = f"stands beside {configs[0].name}: only one of them can hold"
        raise ConfigError(str(configs[1]), None, "", problem, "merge them into one file")
    project = str(folder.parent) if name == "project" else ""
    parts = [Part(name, parse(path, contents[path]), project=project) for path in configs]
    for path, content in contents.items():
        if path not in configs:
            from ringfence.engine.policy import front_matter  # noqa: PLC0415 - few have any

            document = front_matter.read_agent(path, content)
            if document is not None:
                for agent in front_matter.names_of(path, document):
                    label = f"{name}, agent {agent}"
                    parts.append(Part(label, document, (front_matter.KEY,), agent, project))
    return parts


# --- all that is wrong -------------------------------------------------------------------------


def problems(cwd: str | None, *, config: str | None = None) -> list[ConfigError]:
    """Everything that is wrong with the files that ``load_policy`` reads, not only the first."""
    if config is not None:
        return list(_problems(lambda: [_single(config)]))
    folders: list[tuple[str, StrPath]] = [("global", user_folder(os.environ))]
    found: list[ConfigError] = []
    if cwd is not None:
        folders += (("project", root / ".ringfence") for root in project_roots(cwd))
        try:
            _check_places(os.environ, (cwd,))
        except ConfigError as error:
            found.append(error)
    for name, folder in folders:
        try:
            for path in config_files(folder):
                found += _problems(partial(_one_file, name, folder, path))
            _parts(name, folder, contents_of(folder))
        except ConfigError as error:
            if str(error) not in map(str, found):
                found.append(error)
    return found


def _one_file(name: str, folder: StrPath, path: Path) -> list[Part]:
    content = content_of(path)
    return [] if content is None else _parts(name, folder, {path: content})


def _problems(parts: Callable[[], list[Part]]) -> Iterator[ConfigError]:
    """Each error of some parts: what is wrong is taken out, until the rest is right."""
    try:
        left = parts()
    except ConfigError as error:
        yield error
        return
    for part in left:
        data = part.document.data
        while True:
            try:
                evolve(part, document=evolve(part.document, data=data)).layers()
            except ConfigError as error:
                yield error
                # Without the table that the part is, nothing is left to look at.
                inner = len(error.keys) > len(part.keys)
                smaller = _without(data, error.keys) if inner else None
                if smaller is None:
                    break
                data = smaller
            else:
                break


def _without(data: Mapping[str, Any], keys: Keys) -> dict[str, Any] | None:
    """The data without what stands at ``keys``, or None if nothing does."""
    if not keys or keys[0] not in data:
        return None
    copy = dict(data)
    if len(keys) == 1 or not isinstance(copy[keys[0]], dict):
        del copy[keys[0]]
        return copy
    inner = _without(copy[keys[0]], keys[1:])
    if inner is None:
        return None
    copy[keys[0]] = inner
    return copy
