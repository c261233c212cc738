#!/usr/bin/env bash
# The pages of `portent check --format html`, `portent find --format html`, `portent serve` and of annotated tests in headless Chromium: no errors, no requests to others, stepping
# and looking on work.
# Installs Debian's Chromium and playwright-core where they are missing. Takes about 30 s after that.
set -euo pipefail
cd "$(dirname "$0")/.."

ci/browser/install.sh
target=${CARGO_TARGET_DIR:-target}
target=$(cd "$target" && pwd)

# The tests build it; to build it alone would compile everything again, as they ask for more features of what it is made of.
cargo test -q --workspace --no-run
export PORTENT=$target/debug/portent PLAYWRIGHT=$target/browser/node_modules/playwright-core
node ci/browser/report.mjs "$@"
node ci/browser/find.mjs "$@"
node ci/browser/live.mjs "$@"

PAGES=$(mktemp -d)
trap 'rm -rf "$PAGES"' EXIT
export PAGES
PORTENT_REPORT=$PAGES cargo test -q --workspace --test suite programs::a_ >/dev/null
node ci/browser/tested.mjs "$@"
