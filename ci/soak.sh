#!/usr/bin/env bash
# A sidecar at full rate for a minute (or as many seconds as are given): what it keeps does not grow. At the lowest priority, as what counts is
# the time that passes; after `cargo test --workspace`, whose artefacts it uses.
set -euo pipefail
cd "$(dirname "$0")/.."

export PORTENT_SOAK=${1:-60}
nice -n 19 cargo test --quiet --workspace --test main -- --exact --nocapture soak::memory_is_flat_at_full_rate
