# Sourced by run_pipeline.sh and run_tests.sh: a virtual environment that holds exactly the pinned requirements, and for
# the tests a browser.
#
#   use_environment requirements.txt [requirements-dev.txt]
#   use_browser
#
# Sets PYTHON. The environment is .venv beside this file, or the folder that VENV names. What was installed last, under
# which constraints, is kept in it; as long as that equals the files here, nothing is installed and no network is used.

use_environment() {
    local root venv wanted installed candidate
    root="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
    venv="${VENV:-$root/.venv}"
    PYTHON="$venv/bin/python"
    if ! "$PYTHON" -m pip --version >/dev/null 2>&1; then
        for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
            if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
                echo "making a virtual environment with $("$candidate" --version)"
                "$candidate" -m venv --clear "$venv" || return 1
                break
            fi
        done
        if ! [ -x "$PYTHON" ]; then
            echo "${0##*/}: no Python 3.11 or newer found; expected python3 on the PATH" >&2
            return 2
        fi
    fi
    for wanted in "$@"; do
        installed="$venv/$wanted.installed"
        if ! cat "$root/$wanted" "$root/constraints.txt" | cmp -s - "$installed"; then
            echo "installing $wanted"
            "$PYTHON" -m pip install -qq --disable-pip-version-check -c "$root/constraints.txt" -r "$root/$wanted" ||
                return 1
            cat "$root/$wanted" "$root/constraints.txt" >"$installed"
        fi
    done
}

# The pages are tested in Chromium: what is on the PATH, or else Debian's, which root may install.
use_browser() {
    _has_browser && return
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        echo "installing chromium chromium-driver"
        {
            apt-get -qq update
            DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium chromium-driver
        } >/dev/null 2>&1 || true
        _has_browser && return
    fi
    echo "${0##*/}: no browser for the tests of the pages; expected chromium and chromedriver on the PATH" \
        "(Debian: apt-get install chromium chromium-driver)" >&2
    return 2
}

_has_browser() {
    command -v chromedriver >/dev/null &&
        { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null
}
