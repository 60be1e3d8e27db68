"""Why an installation could not be started, each with its own exit code.

    CannotStart                  1
    ├── AlreadyRunning           3  stop the other one, or choose another directory and port
    ├── PortUnavailable          4  choose another port or host
    ├── DataDirectoryUnusable    5  mend its owner or its mode
    ├── DiskFull                 6  make room
    ├── PreparationFailed        7  read the log of the migration
    ├── NotReady                 8  read the log of the process that did not come up
    └── EnvironmentUnusable      9  mend the variable, or start the server that it names

Exit code 2 is a wrong command line, as everywhere.
"""


class CannotStart(Exception):
    """The installation did not start; the text says why and what to do."""

    exit_code = 1


class AlreadyRunning(CannotStart):
    """Another supervisor holds this data directory."""

    exit_code = 3


class PortUnavailable(CannotStart):
    """Nobody can listen at that host and port."""

    exit_code = 4


class DataDirectoryUnusable(CannotStart):
    """The data directory cannot be used safely as it is."""

    exit_code = 5


class DiskFull(CannotStart):
    """There is too little room for the database and the logs."""

    exit_code = 6


class PreparationFailed(CannotStart):
    """The database could not be brought up to date."""

    exit_code = 7


class NotReady(CannotStart):
    """The processes run, but the installation did not become ready in time."""

    exit_code = 8


class EnvironmentUnusable(CannotStart):
    """A variable cannot be used, or the server that it names does not answer."""

    exit_code = 9
