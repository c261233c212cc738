#!/usr/bin/env bash
# Every set of features that a user may choose builds without a warning. About a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="-D warnings"
target=target/features

check() {
    printf 'features: %s\n' "$*"
    cargo check --quiet --target-dir $target "$@"
}

check -p portent --no-default-features
check -p portent
check -p portent --no-default-features --features trace
check -p portent --all-features
