#!/usr/bin/env bash
# Every set of features that a user may choose builds without a warning. Half a minute after the lints, whose dependencies it shares.
set -euo pipefail
cd "$(dirname "$0")/.."

check() {
    printf 'features: %s\n' "$*"
    cargo clippy --quiet "$@" -- -D warnings
}

check -p portent --no-default-features
check -p portent
check -p portent --no-default-features --features trace
check -p portent --no-default-features --features monitor
check -p portent --no-default-features --features macros
check -p portent --no-default-features --features sidecar
check -p portent --no-default-features --features tokio
check -p portent --no-default-features --features tokio,tracing-layer
check -p portent --no-default-features --features explore
check -p portent --all-features
check -p portent-hooks
check -p portent-hooks --features monitor
check -p portent-hooks --features lock_api
check -p portent-hooks --features lock_api,monitor
check -p portent-hooks --features tokio
check -p portent-hooks --features monitor,tokio
check -p portent-hooks --features tracing-layer
for features in "" metrics nats tracing; do
    check -p portent-sidecar --features "$features"
done
for features in "" regex serde snippets; do
    check -p portent-monitor-dsl --no-default-features --features "$features"
done
check -p portent-cli --no-default-features
check -p portent-cli --features nats --all-targets

# Without a monitor, hooks are the standard library and tokio.
cargo test --quiet -p portent-hooks --features lock_api,tokio --test off

# A program that wants properties and monitors alone pulls in little.
most=25
packages=$(cargo tree -p portent --no-default-features -e normal --prefix none | sed 's/ (\*)$//' | sort -u | wc -l)
printf 'packages of properties and monitors alone: %s, of at most %s\n' "$packages" "$most"
[ "$packages" -le "$most" ]
