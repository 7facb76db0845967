#!/bin/sh
# Makes .venv when it is missing, then installs lock files and the project itself into it.
# Plain sh and nothing but POSIX tools, so that it runs on Linux and macOS alike.
#
#     sh devtools/environment.sh requirements/build.txt requirements/runtime.txt
#     sh devtools/environment.sh --outdated      # says by its exit code whether what is there must be made anew
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

# As a person would type it: with sudo only where it is needed and there.
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
        # A release whose own Python is too old has no newer one to install.
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
    # Debian keeps the half of venv that installs pip in a package of its own.
    "$found" -c 'import ensurepip, venv' 2>/dev/null ||
        stop "this Python cannot make virtual environments. Run: $(how_to_get_python)"
    "$found" -m venv --clear "$venv"
}

make_environment() {
    echo "Making $venv ..."
    if command -v uv >/dev/null; then
        uv venv --quiet --clear --python "${PYTHON:->=3.11}" "$venv"
    else
        make_with_venv
    fi
}

install_with_uv() {
    uv pip install --quiet --python "$python" --require-hashes "$@"
    uv pip install --quiet --python "$python" --no-deps --no-build-isolation -e .
}

# Quiet twice: pip warns of how packages of others were built, which whoever installs can do nothing about.
install_with_pip() {
    # An environment that uv made has no pip of its own.
    "$python" -m pip --version >/dev/null 2>&1 || "$python" -m ensurepip --default-pip >/dev/null
    "$python" -m pip install -qq --disable-pip-version-check --require-hashes "$@"
    "$python" -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
}

# Its name for its own extension modules tells which C library it was built for.
built_for_musl() {
    "$1" -c 'import sys, sysconfig; sys.exit("musl" not in str(sysconfig.get_config_var("SOABI")))' 2>/dev/null
}

# Cryptography ends with 48 there and Ray with 2.49: what is locked would have to be compiled.
built_for_intel_macs() {
    "$1" -c 'import platform, sys; sys.exit((sys.platform, platform.machine()) != ("darwin", "x86_64"))' 2>/dev/null
}

# Neither in a checkout that was moved or copied nor beneath a Python of another version is our own package found.
belongs_here() {
    "$python" -I -c 'import os, scraper
raise SystemExit(not os.path.samefile(scraper.__file__, "scraper/__init__.py"))' 2>/dev/null
}

# What this script has not finished, and what a link leads to, is left as it is.
outdated() {
    [ -e "$venv/.runtime" ] && [ ! -L "$venv" ] && ! belongs_here
}

if [ "${1:-}" = --outdated ]; then
    outdated && exit
    exit 1
fi

if outdated; then
    echo "$venv was made in another folder, or for another Python."
    make_environment
elif ! new_enough "$python"; then
    make_environment
fi
if built_for_musl "$python"; then
    stop "this Python is built for musl (Alpine), for which Playwright has no driver. Use the container image."
fi
if built_for_intel_macs "$python"; then
    stop "packages that this needs are no longer made for Macs with an Intel processor. Use the container image."
fi

echo "Installing $* ..."
for lock; do
    shift
    set -- "$@" -r "$lock"
done
if command -v uv >/dev/null; then
    install_with_uv "$@"
else
    install_with_pip "$@"
fi
