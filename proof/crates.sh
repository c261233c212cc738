#!/usr/bin/env bash
# Crates that nobody here wrote, with their own concurrent tests: their `std::sync` and `std::thread` become those of Portent, each of
# their tests is recorded and leaves its trace, and `portent find` looks at all traces. Needs the network; about five minutes. Not part of CI.
#
#   proof/crates.sh [FOLDER]
set -euo pipefail
portent=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
crates=(threadpool@1.8.1 spmc@0.3.0)
export CARGO_TARGET_DIR=$folder/target

mkdir -p "$folder/fetch/src"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n' >"$folder/fetch/Cargo.toml"
for crate in "${crates[@]}"; do printf '%s = "=%s"\n' "${crate%@*}" "${crate#*@}" >>"$folder/fetch/Cargo.toml"; done
: >"$folder/fetch/src/lib.rs"
(cd "$folder/fetch" && cargo vendor -q ../vendor >/dev/null)
cargo build -q --manifest-path "$portent/Cargo.toml" -p portent-cli
command=$CARGO_TARGET_DIR/debug/portent

# Seconds that a command takes; what it prints goes to a file.
timed() {
    local log=$1 begin
    shift
    begin=$(date +%s.%N)
    "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }
    printf '%.1f' "$(echo "$(date +%s.%N) - $begin" | bc)"
}

printf '| crate | tests | as they are | recorded | events | data races | deadlocks |\n|---|---|---|---|---|---|---|\n'
for crate in "${crates[@]}"; do
    name=${crate%@*}
    for kind in plain recorded; do
        rm -rf "${folder:?}/$kind/$name"
        mkdir -p "$folder/$kind"
        cp -r "$folder/vendor/$name" "$folder/$kind/$name"
        rm -f "$folder/$kind/$name"/{.cargo-checksum.json,Cargo.lock}
        printf '\n[workspace]\n' >>"$folder/$kind/$name/Cargo.toml"
    done
    recorded=$folder/recorded/$name
    (cd "$recorded" && cargo add -q portent --path "$portent" --features macros)
    find "$recorded" -name '*.rs' -print0 | xargs -0 sed -i -E \
        -e 's/\bstd::(sync|thread)\b/portent::\1/g' \
        -e 's/^( *)#\[test\]/\1#[portent::test(property = "always !no_such_event", causality = "happens-before")]/'
    for kind in plain recorded; do
        (cd "$folder/$kind/$name" && cargo test -q --lib --tests --no-run 2>/dev/null)
    done
    plain=$(cd "$folder/plain/$name" && timed "$folder/$name.plain" cargo test -q --lib --tests -- --test-threads 1)
    traces=$folder/traces/$name
    export PORTENT_REPORT=$traces
    with=$(cd "$recorded" && timed "$folder/$name.recorded" cargo test -q --lib --tests -- --test-threads 1)
    unset PORTENT_REPORT
    passed=$(grep -ho '[0-9]* passed' "$folder/$name.recorded" | awk '{ n += $1 } END { print n }')
    before=$(grep -ho '[0-9]* passed' "$folder/$name.plain" | awk '{ n += $1 } END { print n }')
    "$command" find --format json "$traces"/*.jsonl >"$folder/$name.found" 2>"$folder/$name.errors" || true
    events=$(cat "$traces"/*.jsonl | wc -l)
    count() { grep -o "\"kind\": *\"$1\"" "$folder/$name.found" | wc -l; }
    printf '| %s | %s of %s pass | %s s | %s s | %s | %s | %s |\n' "$crate" "$passed" "$before" "$plain" "$with" "$events" "$(count race)" "$(count deadlock)"
done
printf 'everything is in %s\n' "$folder"
