"""What single programs can do to a machine, as tables. Pure.

A reason completes the sentence "This command …".
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from gateway.agents.shell_places import is_device, is_protected, is_vital

WIPES = "may wipe a disk"
DELETES = "deletes everything below a place that is not its own"
STOPS = "stops or restarts a machine"
ENDS = "ends processes that are not its own"
BECOMES = "takes the rights of another user"
EDITS = "changes the system, or who may enter it"
OPENS = "gives everybody rights"
FETCHES = "runs what it fetches, unseen"
REWRITES = "overwrites or deletes what others have pushed"
DROPS = "deletes data of a database"
DESTROYS = "deletes what runs elsewhere"
CONNECTS = "lets others in from the network"
MULTIPLIES = "starts itself over and over"
INLINE = "runs code that starts programs or deletes, which cannot be followed"

_DELETING = re.compile(r"\b(?:rm|shred|unlink)\b")

Rule = Callable[[Sequence[str]], str]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = _names("sh bash dash zsh ksh mksh ash fish csh tcsh pwsh")
INTERPRETERS = SHELLS | _names("python python2 python3 perl ruby node php lua")
#: They give what nobody has seen: from the network, or from something encoded.
FETCHERS = _names(
    "curl wget fetch aria2c http https nc ncat socat ftp scp lynx"
    " base64 base32 xxd openssl uudecode gpg"
)
#: They run a command that stands among their arguments.
WRAPPERS = _names(
    "env nohup nice ionice timeout setsid stdbuf xargs exec command builtin watch chrt taskset"
    " parallel strace ssh busybox toybox flock script unshare sudo doas su pkexec find docker"
    " podman kubectl lxc trap time systemd-run chroot nsenter ld.so"
)
_CODE = {"python": "c", "perl": "eE", "ruby": "e", "node": "ep", "php": "r", "lua": "e"}
_AWKS = _names("awk gawk mawk nawk")
_STARTS_OR_DELETES = re.compile(
    r"\b(?:(?<!platform\.)system|exec(?:[lv]\w*|file\w*|sync)?|popen\w*|spawn\w*|subprocess|fork|qx"
    r"|child_process|eval|getattr|__(?:import|builtins|globals|subclasses)__|importlib|rmtree"
    r"|rmdir\w*|rm(?:Sync|_rf?)|unlink\w*|remove(?:dirs|sync)?(?=\s*\())\b",
    re.IGNORECASE,
)
_BACKQUOTED = frozenset({"perl", "ruby", "php"})  # they start programs so

_CLIENTS = _names(
    "psql mysql mariadb sqlite3 sqlcmd mongo mongosh duckdb clickhouse-client clickhouse cockroach"
    " sqlplus bq snowsql cqlsh isql"
)
_DROPPING = re.compile(
    r"\bdrop\s+(?:database|schema|table|user|role|tablespace|keyspace|collection)\b"
    r"|\btruncate\s+\w|\bdropDatabase\b|\.drop\(|\bdelete\s+from\s+[\w.\"`]+\s*(?:;|$)",
    re.IGNORECASE,
)


def drops_data(words: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether a client of a database is told to delete what cannot be brought back.

    Args:
        words: The names of programs and their arguments, without folders.
        texts: What the client is given: arguments, here-documents, what is piped.
    """
    return not _CLIENTS.isdisjoint(words) and any(_DROPPING.search(text) for text in texts)


def inline_code(words: Sequence[str], bodies: Sequence[str]) -> str:
    """A reason if an interpreter is given code that starts programs or deletes.

    Args:
        words: Of the command; its name without the folder.
        bodies: The here-documents it reads.
    """
    letters = next((_CODE[name] for name in _CODE if re.fullmatch(rf"{name}[\d.]*", words[0])), "")
    if words[0] in _AWKS:
        texts = list(words[1:])
    elif letters:
        is_flag = re.compile(rf"-[A-Za-z]*[{letters}]|--eval|--print").fullmatch
        texts = [after for word, after in pairwise(words) if is_flag(word)]
        texts += [word for word in words[1:] if re.match(rf"-[{letters}].", word)]
        texts += bodies
    else:
        return ""
    is_quoted = words[0].rstrip("0123456789.") in _BACKQUOTED and any("`" in t for t in texts)
    return INLINE if is_quoted or any(map(_STARTS_OR_DELETES.search, texts)) else ""


def scripts_in_options(words: Sequence[str]) -> list[str]:
    """What single programs run that stands inside of one of their options.

    Args:
        words: Of the command; its name without the folder.
    """
    found = []
    for pattern in _SCRIPT_IN_WORD.get(words[0], ()):
        matches = (re.match(pattern, word, re.DOTALL) for word in words[1:])
        found += [match[1] for match in matches if match]
    return found


_SHOUTED = r"(?:[^=]*=)?:?!(.+)"
_SCRIPT_IN_WORD: dict[str, tuple[str, ...]] = {
    "alias": (r"[^=]+=(.+)",),
    "env": (r"-[A-Za-z]*S(.+)", r"--split-string=(.+)"),
    "git": (_SHOUTED,),
    "tar": (r"--checkpoint-action=exec=(.+)", r"--(?:to-command|use-compress-program)=(.+)"),
    **dict.fromkeys(["vi", "vim", "ex"], (_SHOUTED, r"\+:?!(.+)")),
}


def _always(reason: str) -> Rule:
    return lambda _words: reason


def _operands(words: Sequence[str]) -> list[str]:
    return [word for word in words[1:] if not word.startswith("-")]


def _has_flag(words: Sequence[str], letters: str, *names: str) -> bool:
    """Whether there is one of these options, also among several letters or cut short."""
    return any(
        word.startswith(names) if word.startswith("--") and names else set(letters) & set(word[1:])
        for word in words[1:]
        if word.startswith("-") and (not word.startswith("--") or names)
    )


def _rm(words: Sequence[str]) -> str:
    if any(word.startswith("--no-p") for word in words):
        return DELETES
    if _has_flag(words, "rR", "--r") and any(map(is_vital, _operands(words))):
        return DELETES
    return _writes(words)


def deletes_trees(words: Sequence[str]) -> bool:
    """Whether it is an `rm` that deletes whatever stands below what it is given."""
    return words[0] == "rm" and _has_flag(words, "rR", "--r")


def _find(words: Sequence[str]) -> str:
    deletes = "-delete" in words or any(map(_DELETING.search, words))
    places = []
    for word in words[1:]:
        if re.fullmatch(r"-[HLP]|-O\d", word):
            continue
        if word.startswith(("-", "(", "!")):
            break
        places.append(word)
    return DELETES if deletes and any(map(is_vital, places)) else ""


def _dd(words: Sequence[str]) -> str:
    targets = [word[3:] for word in words if word.startswith("of=")]
    if any(map(is_device, targets)):
        return WIPES
    return EDITS if any(map(is_protected, targets)) else ""


def _writes(words: Sequence[str]) -> str:
    targets = _operands(words)
    if any(map(is_device, targets)):
        return WIPES
    return EDITS if any(map(is_protected, targets)) else ""


def _copies(words: Sequence[str]) -> str:
    """What is copied to: the last operand, or what the option names."""
    named = _option_values(words, "-t", "--target-directory")
    targets = named or _operands(words)[-1:]
    if any(map(is_device, targets)):
        return WIPES
    return EDITS if any(map(is_protected, targets)) else ""


def _option_values(words: Sequence[str], *names: str) -> list[str]:
    values = [word.partition("=")[2] for word in words if word.startswith(_with_equals(names))]
    values += [after for word, after in pairwise(words) if word in names]
    short = tuple(name for name in names if len(name) == 2)
    return values + [w[2:] for w in words if short and w.startswith(short) and len(w) > 2]


def _with_equals(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}=" for name in names if name.startswith("--"))


def _saves(*names: str) -> Rule:
    """It writes where an option says."""

    def rule(words: Sequence[str]) -> str:
        return EDITS if any(map(is_protected, _option_values(words, *names))) else ""

    return rule


def _in_place(words: Sequence[str]) -> str:
    return _writes(words) if _has_flag(words, "i", "--in-place") else ""


def _chmod(words: Sequence[str]) -> str:
    mode = next(iter(_operands(words)), "")
    if re.search(r"[+=][rwxXt]*s|^[2-7][0-7]{3}$", mode):
        return BECOMES
    if _has_flag(words, "R", "--recursive") and any(map(is_vital, _operands(words)[1:])):
        return OPENS
    return _writes(words)


def _kill(words: Sequence[str]) -> str:
    return ENDS if {"-1", "1"} & set(words[1:]) else ""


def _git(words: Sequence[str]) -> str:
    if "push" not in words:
        return ""
    after = list(words[words.index("push") :])
    is_forced = _has_flag(after, "fd", "--force", "--mirror", "--delete", "--prune")
    return REWRITES if is_forced or any(w.startswith(("+", ":")) for w in after[1:]) else ""


def _says(reason: str, *any_of: str) -> Rule:
    """It is bad with one of these words among its arguments, whatever their case."""
    wanted = frozenset(any_of)
    return lambda words: reason if wanted & {word.lower() for word in words[1:]} else ""


def _container(words: Sequence[str]) -> str:
    if any(w.startswith(("--privileged", "--pid=host")) for w in words):
        return BECOMES
    mounts = _option_values(words, "-v", "--volume", "--mount")
    if any(re.search(r"(?:^|source=|src=)/(?::|,|$)|docker\.sock", mount) for mount in mounts):
        return BECOMES
    return DESTROYS if "prune" in words else ""


def _crontab(words: Sequence[str]) -> str:
    return "" if list(words[1:]) == ["-l"] else EDITS


def _listens(words: Sequence[str]) -> str:
    runs = re.compile(r"^(?:exec|system):", re.IGNORECASE)
    if _has_flag(words, "ec", "--exec", "--sh-exec") or any(runs.match(w) for w in words):
        return CONNECTS
    return ""


def _table() -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for reason, names in {
        WIPES: "mke2fs mkswap wipefs fdisk sfdisk cfdisk gdisk sgdisk parted blkdiscard lvremove"
        " vgremove pvremove",
        STOPS: "shutdown reboot halt poweroff kexec",
        ENDS: "killall killall5 pkill skill",
        BECOMES: "sudo su doas pkexec run0 setcap chroot nsenter sudoedit runuser setpriv capsh",
        EDITS: "useradd usermod userdel adduser deluser groupadd groupmod passwd chpasswd visudo"
        " insmod rmmod modprobe iptables ip6tables nft ufw firewall-cmd update-grub",
        DROPS: "dropdb dropuser",
    }.items():
        rules |= dict.fromkeys(names.split(), _always(reason))
    writers = (
        "tee mv touch truncate rmdir unlink shred chown chgrp chattr setfacl mkdir patch ed ex"
    )
    rules |= dict.fromkeys(f"{writers} vi vim nano emacs cd pushd".split(), _writes)
    rules |= dict.fromkeys(["cp", "install", "ln", "scp", "rsync"], _copies)
    rules |= dict.fromkeys(["sed", "perl", "ruby"], _in_place)
    rules |= dict.fromkeys(["docker", "podman"], _container)
    rules |= dict.fromkeys(["nc", "ncat", "netcat", "socat"], _listens)
    return rules


RULES: dict[str, Rule] = {
    **_table(),
    "rm": _rm,
    "find": _find,
    "dd": _dd,
    "chmod": _chmod,
    "kill": _kill,
    "git": _git,
    "crontab": _crontab,
    "curl": _saves("-o", "--output", "--output-dir"),
    "wget": _saves("-O", "-P", "--output-document", "--directory-prefix"),
    "tar": _saves("-C", "--directory"),
    "unzip": _saves("-d"),
    "sort": _saves("-o", "--output"),
    "init": _says(STOPS, "0", "6"),
    "telinit": _says(STOPS, "0", "6"),
    "systemctl": _says(
        STOPS, "poweroff", "reboot", "halt", "kexec", "rescue", "emergency", "isolate", "suspend"
    ),
    "busctl": _says(STOPS, "poweroff", "reboot"),
    "zpool": _says(WIPES, "destroy", "labelclear"),
    "zfs": _says(WIPES, "destroy"),
    "cryptsetup": _says(WIPES, "luksformat", "erase", "lukserase"),
    "nvme": _says(WIPES, "format", "sanitize"),
    "hdparm": _says(WIPES, "--security-erase", "--trim-sector-ranges"),
    "diskutil": _says(WIPES, "erasedisk", "erasevolume", "partitiondisk"),
    "redis-cli": _says(DROPS, "flushall", "flushdb"),
    "valkey-cli": _says(DROPS, "flushall", "flushdb"),
    "mysqladmin": _says(DROPS, "drop"),
    "terraform": _says(DESTROYS, "destroy", "-destroy"),
    "tofu": _says(DESTROYS, "destroy", "-destroy"),
    "pulumi": _says(DESTROYS, "destroy"),
    "vagrant": _says(DESTROYS, "destroy"),
    "kubectl": _says(DESTROYS, "delete", "drain"),
    "helm": _says(DESTROYS, "uninstall", "delete"),
    "aws": _says(DESTROYS, "rb", "--recursive", "terminate-instances"),
    "gcloud": _says(DESTROYS, "delete"),
    "az": _says(DESTROYS, "delete"),
    "gh": _says(DESTROYS, "delete"),
}


def rule_of(program: str) -> Rule | None:
    """The rule for a program, by its name without the folder."""
    if program.startswith(("mkfs", "newfs")):
        return _always(WIPES)
    return RULES.get(program)
