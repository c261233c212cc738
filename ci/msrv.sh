#!/usr/bin/env bash
# The Rust version that Cargo.toml states is enough: no dependency asks for a later one, and where rustup has that compiler,
# it builds the workspace. (That we use nothing newer ourselves is clippy's `incompatible_msrv`, on by default.) A second, or
# a minute with the compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
stated=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

cargo metadata --format-version 1 --locked | python3 -c '
import json, sys
stated = tuple(map(int, sys.argv[1].split(".")))
later = [
    "{name} {version} needs Rust {rust_version}".format(**package)
    for package in json.load(sys.stdin)["packages"]
    if tuple(map(int, (package["rust_version"] or "0").split(".")))[:2] > stated
]
print("\n".join(later) or f"no dependency needs a later Rust than {sys.argv[1]}")
sys.exit(bool(later))
' "$stated"

if rustup toolchain list 2>/dev/null | grep -q "^$stated"; then
    cargo "+$stated" check --quiet --workspace --target-dir target/msrv
    echo "builds with Rust $stated"
else
    echo "SKIPPED: Rust $stated is not installed here"
fi
