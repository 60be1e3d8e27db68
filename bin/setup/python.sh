# Sourced by bin/up and bin/test: finds a Python that fits.

fits='import sys, venv, ensurepip, ssl, sqlite3; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'

# Print the Python to make the environment $1 with: its own, if it has one that works.
python_for() {
    for candidate in "$1/bin/python" "${HERMES_PYTHON:-python3}" \
        python3 python3.13 python3.12 python3.11 python; do
        # Trying is the only way to know: a version manager's stub exists and refuses to run.
        if "$candidate" -I -c "$fits" >/dev/null 2>&1; then
            echo "$candidate"
            return 0
        fi
    done
    {
        echo "Hermes needs Python 3.11, 3.12 or 3.13 with venv, ssl and sqlite3, and found none."
        echo "  Debian, Ubuntu:  apt-get install python3 python3-venv"
        echo "  Fedora:          dnf install python3.13"
        echo "  macOS:           brew install python@3.13"
        echo "Or name one: HERMES_PYTHON=/path/to/python bin/up"
    } >&2
    return 1
}
