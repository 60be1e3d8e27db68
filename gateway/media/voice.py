"""Sounds made into voice messages: Opus in an Ogg container, by ffmpeg where there is one."""

import shutil
import subprocess

LONGEST_SECONDS = 60
_MOST = 64 * 1024 * 1024


def is_possible() -> bool:
    """Whether sounds can be made into voice messages on this host."""
    return shutil.which("ffmpeg") is not None


def made_of(sound: bytes) -> bytes:
    """The same sound as a voice message; empty if that cannot be done.

    It goes in and out through pipes, and only through them: a file that names other files or
    addresses to be played opens none of them.

    Args:
        sound: A whole file of any kind that ffmpeg knows.
    """
    program = shutil.which("ffmpeg")
    if program is None or len(sound) > _MOST:
        return b""
    words = [program, "-nostdin", "-v", "error", "-protocol_whitelist", "pipe", "-i", "pipe:0"]
    words += ["-vn", "-ac", "1", "-c:a", "libopus", "-b:a", "32k", "-f", "ogg", "pipe:1"]
    try:
        done = subprocess.run(  # noqa: S603 - our own words only
            words, input=sound, capture_output=True, timeout=LONGEST_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""
