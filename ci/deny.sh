#!/usr/bin/env bash
# Licences, banned crates, sources and security advisories of all dependencies. A second; where cargo-deny is missing, it is
# compiled first, without optimisation, as it runs for a second.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo-deny >/dev/null || cargo install --quiet --locked --debug --config 'profile.dev.debug=false' cargo-deny
cargo deny --log-level error check licenses bans sources
# The database of advisories is fetched from outside: where that is out of reach, say so.
if cargo deny --log-level error fetch db 2>/dev/null; then
    cargo deny --log-level error check advisories
else
    echo "SKIPPED: the database of advisories cannot be fetched from here"
fi
