#!/usr/bin/env bash
# Lint, types and tests. Makes its own environment the first time, and installs a browser where there is none and it may;
# needs no key and no network after that.
#
#   ./run_tests.sh [pytest arguments]
set -euo pipefail
cd "$(dirname "$0")"
source ./environment.sh
use_environment requirements.txt requirements-dev.txt
use_browser
"$PYTHON" -m ruff check .
"$PYTHON" -m ruff format --check .
"$PYTHON" -m mypy
# Two processes suit the two cores that the stated times refer to.
exec "$PYTHON" -m pytest -n 2 "$@"
