"""Which places on a machine a shell command had better not write to. Pure."""

import posixpath
import re

# Whoever writes below these changes the machine, or who may use it.
_SYSTEM = (
    *("/etc", "/boot", "/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/sys", "/proc"),
    *("/root", "/var/spool/cron", "/var/lib/dpkg", "/System", "/Library"),
)
# What stands directly below these is a person's, or a whole service.
_SHARED = frozenset({"home", "var", "opt", "srv", "run", "mnt", "media", "Users", "Applications"})
_KEYS = re.compile(r"(?:^|/)(?:\.ssh|\.gnupg|authorized_keys|sudoers|sudoers\.d)(?:/|$)")
_START_UP = re.compile(
    r"^~/\.(?:(?:bash|zsh)(?:rc|_profile|_login|env)|profile|zshrc|zshenv|zprofile)$"
)
_HARMLESS_DEVICE = re.compile(r"/dev/(?:null|zero|full|tty|std(?:in|out|err)|fd/\d+|shm(?:/.*)?)")
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME[^}]*\})(?=/|$)")
_SOMEBODYS_HOME = re.compile(r"~[\w.-]*")
_LEADING_PARAMETER = re.compile(r"^(?:\$\w+|\$\{[^}]*\})+(?=/)")
_ENDING = re.compile(r"(?:/+(?:\*+|\.?))+$")


def place(text: str) -> str:
    """A path in its shortest form: `~` for the home, `/` for what would be the root.

    An unset parameter is nothing, so `$BUILD/*` may be everything.
    """
    text = _HOME.sub("~", text, count=1) if _HOME.match(text) else text
    text = _LEADING_PARAMETER.sub("", text)
    shortened = _ENDING.sub("", text)
    if not shortened:
        return "/" if text else ""
    return re.sub(r"^//", "/", posixpath.normpath(shortened))


def is_vital(text: str) -> bool:
    """Whether everything below the path is a system, a home or more than one's own folder."""
    where = place(text)
    if (
        where in {"/", ".."}
        or _SOMEBODYS_HOME.fullmatch(where)
        or where.startswith("../")
        or is_protected(text)
    ):
        return True
    parts = where.split("/")[1:] if where.startswith("/") else []
    return len(parts) == 1 or (len(parts) == 2 and parts[0] in _SHARED)


def is_protected(text: str) -> bool:
    """Whether writing to the path changes a machine, or who may enter it."""
    where = place(text)
    if _KEYS.search(where) or _START_UP.match(where):
        return True
    if where.startswith("/dev/"):
        return not _HARMLESS_DEVICE.fullmatch(where)
    return any(where == root or where.startswith(f"{root}/") for root in _SYSTEM)


def is_device(text: str) -> bool:
    """Whether the path is a device that holds or moves data."""
    return place(text).startswith("/dev/") and is_protected(text)


def is_connection(text: str) -> bool:
    """Whether the path is one of bash's ways into the network."""
    return place(text).startswith(("/dev/tcp/", "/dev/udp/"))
