"""What Python's library does with files: data for `python`.

A use is written ``operation:position:keyword``; the operation ``mode`` is read or write, as the
argument ``mode`` says. A ``-`` for the position means by keyword only.
"""

from __future__ import annotations

from collections.abc import Mapping

from ringfence.grammar.records import frozen
from ringfence.rules.model import Operation


@frozen
class Use:
    """An argument that names a path; ``operation`` is None where the mode decides."""

    operation: Operation | None
    position: int | None
    keyword: str


def _uses(text: str) -> tuple[Use, ...]:
    found = []
    for item in text.split():
        operation, position, keyword = item.split(":")
        found.append(
            Use(
                None if operation == "mode" else Operation(operation),
                None if position == "-" else int(position),
                keyword,
            )
        )
    return tuple(found)


_FUNCTIONS = {
    "mode:0:file": "open io.open codecs.open gzip.open bz2.open lzma.open tarfile.open "
    "zipfile.ZipFile os.fdopen tarfile.TarFile dbm.open shelve.open gzip.GzipFile wave.open "
    "io.FileIO aiofiles.open h5py.File",
    "mode:0:path": "os.open",
    "enter:0:path": "os.chdir",
    "read:1:location": "importlib.util.spec_from_file_location",
    "read:0:path": "os.listdir os.scandir os.walk os.fwalk os.readlink os.statvfs "
    "glob.glob glob.iglob runpy.run_path linecache.getline "
    "linecache.getlines os.getxattr os.listxattr "
    "shutil.disk_usage tokenize.open filecmp.dircmp zipimport.zipimporter site.addsitedir "
    "ctypes.CDLL ctypes.cdll.LoadLibrary imp.load_source zipfile.is_zipfile tarfile.is_tarfile",
    "test:0:path": "os.stat os.lstat os.access os.path.exists os.path.lexists os.path.isfile "
    "os.path.isdir os.path.islink os.path.ismount os.path.getsize os.path.getmtime "
    "os.path.getatime os.path.getctime os.path.realpath os.pathconf",
    "write:0:path": "os.mkdir os.makedirs os.chmod os.chown os.lchown os.truncate os.utime "
    "os.mkfifo os.mknod os.setxattr os.chflags shutil.chown venv.create numpy.save numpy.savez "
    "numpy.savetxt logging.FileHandler logging.handlers.RotatingFileHandler sqlite3.connect "
    "compileall.compile_dir py_compile.compile cv2.imwrite matplotlib.pyplot.savefig",
    "delete:0:path": "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree",
    "delete:0:src write:1:dst": "os.rename os.renames os.replace shutil.move",
    "read:0:src write:1:dst": "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree "
    "shutil.copymode shutil.copystat",
    "unknown:0:src write:1:dst": "os.symlink os.link",
    "read:0:filename write:1:extract_dir": "shutil.unpack_archive",
    "write:0:base_name read:2:root_dir": "shutil.make_archive",
    "test:0:path test:1:path2": "os.path.samefile",
    "read:0:f1 read:1:f2": "filecmp.cmp",
    "read:0:filename": "pandas.read_csv pandas.read_json pandas.read_excel pandas.read_parquet "
    "pandas.read_pickle pandas.read_table pandas.read_feather pandas.read_hdf numpy.load "
    "numpy.loadtxt numpy.genfromtxt numpy.fromfile torch.load PIL.Image.open cv2.imread "
    "toml.load joblib.load polars.read_csv polars.read_parquet dotenv.load_dotenv "
    "numpy.memmap netCDF4.Dataset mimetypes.read_mime_types configparser.read "
    "matplotlib.image.imread soundfile.read geopandas.read_file",
    "write:1:filename": "joblib.dump torch.save urllib.request.urlretrieve wget.download",
    "write:-:filename": "logging.basicConfig",
    "read:0:files": "fileinput.input fileinput.FileInput",
    "read:1:path": "sys.path.insert",
    "read:0:item": "sys.path.append site.addpackage",
}

FUNCTIONS: Mapping[str, tuple[Use, ...]] = {
    name: _uses(uses) for uses, names in _FUNCTIONS.items() for name in names.split()
}
"""Functions by their full name, and which of their arguments are paths."""

_METHODS = {
    "mode": "open",
    "read": "read_text read_bytes iterdir glob rglob walk readlink",
    "test": "exists is_file is_dir is_symlink is_mount stat lstat owner group resolve samefile",
    "write": "write_text write_bytes mkdir touch chmod lchmod",
    "delete": "unlink rmdir rename replace",
}

PATH_METHODS: Mapping[str, Operation | None] = {
    name: None if operation == "mode" else Operation(operation)
    for operation, names in _METHODS.items()
    for name in names.split()
}
"""What a method of a Path does to the path itself."""

PATH_TARGETS: Mapping[str, Operation] = {
    "rename": Operation.WRITE,
    "replace": Operation.WRITE,
    "symlink_to": Operation.UNKNOWN,
    "hardlink_to": Operation.UNKNOWN,
    "samefile": Operation.TEST,
    "copy": Operation.WRITE,
    "move": Operation.WRITE,
}
"""What a method of a Path does to its first argument."""

TELLING_METHODS = frozenset(
    ("read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "rglob", "unlink", "rmdir")
)
"""Methods that no object but a Path has: called on an unknown object, they open a file."""

ARCHIVES = frozenset(("zipfile.ZipFile", "tarfile.open", "tarfile.TarFile"))
"""Functions that give an archive, whose methods take paths."""

ARCHIVE_METHODS: Mapping[str, tuple[int, str, Operation]] = {
    "extractall": (0, "path", Operation.WRITE),
    "extract": (1, "path", Operation.WRITE),
    "write": (0, "filename", Operation.READ),
    "add": (0, "name", Operation.READ),
}
"""The argument of an archive's method that is a path."""

ARGUMENT_METHODS: Mapping[str, Operation] = {
    "read": Operation.READ,
    "save": Operation.WRITE,
    "to_csv": Operation.WRITE,
    "to_excel": Operation.WRITE,
    "to_json": Operation.WRITE,
    "to_parquet": Operation.WRITE,
    "to_pickle": Operation.WRITE,
    "savefig": Operation.WRITE,
    "savetxt": Operation.WRITE,
}
"""Methods of other objects whose first argument is a path, if a text is given."""

SHELLS = frozenset(
    (
        *("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"),
        *("asyncio.create_subprocess_shell", "commands.getoutput", "popen2.popen2"),
        *("asyncio.subprocess.create_subprocess_shell", "pexpect.run", "pexpect.spawn"),
    )
)
"""Functions whose first argument is a text for a shell."""

RUNNERS = frozenset(
    (
        *("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.Popen"),
        *("subprocess.check_output", "pty.spawn"),
    )
)
"""Functions whose first argument is a command's words, or with ``shell=True`` a text."""

SPREAD_RUNNERS: Mapping[str, int] = {
    **dict.fromkeys(("os.execl", "os.execlp", "os.execle", "os.execlpe"), 1),
    **dict.fromkeys(("os.spawnl", "os.spawnlp", "os.spawnle", "os.spawnlpe"), 2),
    **dict.fromkeys(
        ("asyncio.create_subprocess_exec", "asyncio.subprocess.create_subprocess_exec"), 0
    ),
}
"""Functions whose arguments from this position on are a command's words."""

LISTED_RUNNERS: Mapping[str, int] = {
    **dict.fromkeys(("os.execv", "os.execvp", "os.execve", "os.execvpe"), 1),
    **dict.fromkeys(("os.posix_spawn", "os.posix_spawnp"), 1),
    **dict.fromkeys(("os.spawnv", "os.spawnvp", "os.spawnve", "os.spawnvpe"), 2),
}
"""Functions whose argument at this position is a list of a command's words."""

TEMPORARY = frozenset(
    (
        *("tempfile.mkdtemp", "tempfile.mkstemp", "tempfile.mktemp", "tempfile.TemporaryFile"),
        *("tempfile.NamedTemporaryFile", "tempfile.TemporaryDirectory"),
        "tempfile.SpooledTemporaryFile",
    )
)
"""Functions that make a file or directory below ``dir``, or else the temporary directory."""

NAMESPACES = frozenset(("vars", "globals", "locals", "sys.modules"))
"""Where anything of a module can be found under a name that is a text."""

EVALUATORS = frozenset(("exec", "eval", "compile"))
"""Functions that run the text of their first argument as Python."""

ALIASES: Mapping[str, str] = {
    "np": "numpy",
    "pd": "pandas",
    "posix": "os",
    "posixpath": "os.path",
    **{
        f"{module}.{name}": name
        for module in ("builtins", "__builtins__")
        for name in ("open", "exec", "eval", "compile", "__import__", "getattr", "vars", "globals")
    },
    "_io.open": "open",
    "os.path.os": "os",
}
"""Other names of modules."""
