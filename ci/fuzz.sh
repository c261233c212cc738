#!/usr/bin/env bash
# The fuzz targets compile (running them takes a nightly compiler; their corpora are replayed by the
# ordinary tests). About half a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo check --quiet --manifest-path fuzz/Cargo.toml --target-dir target/fuzz
