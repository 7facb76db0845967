#!/bin/sh
# Create .venv if it is missing, then install lock files and the project into it.
# Needs only a POSIX shell and POSIX tools, for Linux and macOS.
#
#     sh devtools/environment.sh requirements/build.txt requirements/runtime.txt
#     sh devtools/environment.sh --outdated      # exit code 0: the environment must be rebuilt
set -eu

venv=.venv
python=$venv/bin/python

stop() {
    printf 'search-mcp: %s\n' "$1" >&2
    exit 1
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for name in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14}; do
        if new_enough "$name"; then
            printf '%s\n' "$name"
            return
        fi
    done
}

# Print an install command, with sudo if the user needs it.
package_command() {
    if [ "$(id -u)" -ne 0 ]; then
        printf 'sudo '
    fi
    printf '%s\n' "$1"
}

how_to_get_python() {
    if command -v brew >/dev/null; then
        printf 'brew install python@3.13\n'
    elif [ "${1:-}" = newer ] && command -v python3 >/dev/null; then
        # The package manager offers no newer Python either.
        printf 'curl -LsSf https://astral.sh/uv/install.sh | sh\n'
    elif command -v apt-get >/dev/null; then
        package_command 'apt-get install -y python3 python3-venv'
    elif command -v dnf >/dev/null; then
        package_command 'dnf install -y python3.12'
    elif command -v apk >/dev/null; then
        package_command 'apk add python3'
    elif command -v pacman >/dev/null; then
        package_command 'pacman -S --noconfirm python'
    else
        printf 'curl -LsSf https://astral.sh/uv/install.sh | sh\n'
    fi
}

make_with_venv() {
    found=$(find_python)
    [ -n "$found" ] || stop "Python 3.11 or newer is needed and was not found. Run: $(how_to_get_python newer)"
    # Debian has the part of venv that installs pip in a separate package.
    "$found" -c 'import ensurepip, venv' 2>/dev/null ||
        stop "this Python cannot make virtual environments. Run: $(how_to_get_python)"
    "$found" -m venv --clear "$venv"
}

make_environment() {
    echo "Creating $venv ..."
    if command -v uv >/dev/null; then
        uv venv --quiet --clear --python "${PYTHON:->=3.11}" "$venv"
    else
        make_with_venv
    fi
}

# Read the lines of pip and show which package it downloads: on a terminal in one changing line, elsewhere every tenth.
# The total counts the packages of the lock files; those of other platforms are skipped.
show_progress() {
    total=$(grep -h '^[A-Za-z0-9].*==' "$@" 2>/dev/null | grep -c . || true)
    count=0
    while read -r word name rest; do
        case $word in
        Collecting) ;;
        Requirement) name=${rest#satisfied: } ;;
        Installing) name='all downloaded, installing' ;;
        *) continue ;;
        esac
        [ "$word" = Installing ] || count=$((count + 1))
        name=${name%%[!A-Za-z0-9._\ ,-]*}
        if [ -t 1 ]; then
            printf '\r\033[K  %d of %d packages: %s' "$count" "$total" "$name"
        elif [ $((count % 10)) -eq 0 ] || [ "$word" = Installing ]; then
            printf '  %d of %d packages: %s\n' "$count" "$total" "$name"
        fi
    done
    if [ -t 1 ]; then
        printf '\r\033[K'
    fi
}

install_with_uv() {
    if [ -t 2 ]; then quiet=; else quiet=--quiet; fi # uv shows its own progress on a terminal
    # shellcheck disable=SC2086
    uv pip install $quiet --python "$python" --require-hashes "$@"
    uv pip install --quiet --python "$python" --no-deps --no-build-isolation -e .
}

# pip warns about the builds of other packages, which the user cannot change: its errors are shown only if it fails.
install_with_pip() {
    # Environments created by uv contain no pip.
    "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip --default-pip >/dev/null
    messages=$venv/.messages
    # A pipe hides the exit code of its first command.
    rm -f "$venv/.failed"
    # shellcheck disable=SC2086 # names of lock files
    { "$python" -m pip install --progress-bar off --disable-pip-version-check --require-hashes "$@" 2>"$messages" ||
        : >"$venv/.failed"; } | show_progress $locks
    if [ -e "$venv/.failed" ]; then
        cat "$messages" >&2
        exit 1
    fi
    rm -f "$messages"
    "$python" -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
}

# The suffix of extension modules names the C library.
built_for_musl() {
    "$1" -c 'import sys, sysconfig; sys.exit("musl" not in str(sysconfig.get_config_var("SOABI")))' 2>/dev/null
}

# The last wheels there are cryptography 48 and Ray 2.49; the locked versions would have to be compiled.
built_for_intel_macs() {
    "$1" -c 'import platform, sys; sys.exit((sys.platform, platform.machine()) != ("darwin", "x86_64"))' 2>/dev/null
}

# The package is not found if the checkout was moved or copied, or if the version of Python changed.
belongs_here() {
    "$python" -I -c 'import os, scraper
raise SystemExit(not os.path.samefile(scraper.__file__, "scraper/__init__.py"))' 2>/dev/null
}

# An unfinished environment and a linked one are never outdated.
outdated() {
    [ -e "$venv/.runtime" ] && [ ! -L "$venv" ] && ! belongs_here
}

if [ "${1:-}" = --outdated ]; then
    outdated && exit
    exit 1
fi

if outdated; then
    echo "$venv was created in another folder, or for another Python."
    make_environment
elif ! new_enough "$python"; then
    make_environment
fi
if built_for_musl "$python"; then
    stop "this Python is built for musl (Alpine), for which Playwright has no driver. Use the container image."
fi
if built_for_intel_macs "$python"; then
    stop "some dependencies have no packages for Macs with an Intel processor. Use the container image."
fi

echo "Installing $* ..."
locks=$*
for lock; do
    shift
    set -- "$@" -r "$lock"
done
if command -v uv >/dev/null; then
    install_with_uv "$@"
else
    install_with_pip "$@"
fi
