# Sourced by bin/up and bin/test: finds a Python that fits.

fits='import sys, venv, ensurepip, ssl, sqlite3; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
version='import sys; print("%d.%d" % sys.version_info[:2])'

# Whether $1 is such a Python. Trying is the only way to know: a version manager's stub exists and
# refuses to run.
is_fit() {
    "$1" -I -c "$fits" >/dev/null 2>&1
}

# Print the Python to make the environment $1 with: its own, if it has one that works.
python_for() {
    if [ -n "${HERMES_PYTHON:-}" ]; then
        named_python "$1"
        return
    fi
    for candidate in "$1/bin/python" python3 python3.13 python3.12 python3.11 python; do
        if is_fit "$candidate"; then
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

# The same where HERMES_PYTHON names one: no other is taken instead.
named_python() {
    if ! is_fit "$HERMES_PYTHON"; then
        {
            echo "HERMES_PYTHON is $HERMES_PYTHON, which is not a Python 3.11, 3.12 or 3.13 with"
            echo "venv, ssl and sqlite3. Name another, or unset it to have one looked for."
        } >&2
        return 1
    fi
    if is_fit "$1/bin/python"; then
        wanted=$("$HERMES_PYTHON" -I -c "$version")
        made=$("$1/bin/python" -I -c "$version")
        if [ "$wanted" != "$made" ]; then
            {
                echo "The environment in $1 was made with Python $made, and HERMES_PYTHON is $wanted."
                echo "Remove it to have it made anew, or name another place with HERMES_VENV."
            } >&2
            return 1
        fi
        echo "$1/bin/python"
        return 0
    fi
    echo "$HERMES_PYTHON"
}
