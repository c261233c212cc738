#!/usr/bin/env bash
# The documentation builds without a warning (broken links are warnings). About half a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
