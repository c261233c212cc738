#!/usr/bin/env bash
# The fuzz targets compile; their corpora are replayed by the ordinary tests. Some seconds after the lints, whose dependencies it shares.
# To run one for a minute: RUSTC_BOOTSTRAP=1 cargo fuzz run native -- -max_total_time=60
set -euo pipefail
cd "$(dirname "$0")/.."
cargo check --quiet --manifest-path fuzz/Cargo.toml --target-dir "${CARGO_TARGET_DIR:-target}"
