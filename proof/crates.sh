#!/usr/bin/env bash
# Crates that nobody here wrote, with their own concurrent tests: their standard library becomes one whose `sync` and `thread` are those of
# Portent, and their `parking_lot` one whose raw locks are. That is a line each in their Cargo.toml; of their sources only `#[test]` is changed,
# so that each test is recorded and leaves its trace, in which `portent find` looks for races, deadlocks and blocks that are not atomic.
# Needs the network; about a quarter of an hour of a processor. Not part of CI. What came out is in proof/README.md.
#
#   proof/crates.sh [FOLDER]
set -euo pipefail
portent=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "${1:-$(mktemp -d)}")
read -ra crates <<<"${CRATES:-threadpool@1.8.1 spmc@0.3.0 flume@0.11.1 quick_cache@0.6.24}"
# Nothing asynchronous: what wakes tasks is not hooked. (The test `mpsc` of flume is of another crate's channels.)
declare -A options=([flume]='--no-default-features --lib --test array --test basic --test iter --test list --test zero' [spmc]=--lib)
# Tests that fail if the machine is busy, as they are and recorded.
declare -A timed=([flume]='--skip recv_deadline --skip recv_timeout --skip send_timeout')
# What their tests depend on but no test that is recorded does.
declare -A unused=([spmc]=loom [flume]='async-std criterion futures getrandom tokio waker-fn' [quick_cache]='criterion rand_distr')
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0
mkdir -p "$folder"

# A package of one file, which comes on standard input.
package() {
    mkdir -p "$folder/hooked/$1/src"
    printf '[package]\nname = "hooked-%s"\nversion = "%s"\nedition = "2024"\n[workspace]\n[dependencies]\n' "$1" "$2" >"$folder/hooked/$1/Cargo.toml"
    printf 'portent = { path = "%s", features = ["lock_api", "macros"] }\n%s\n' "$portent" "$3" >>"$folder/hooked/$1/Cargo.toml"
    cat >"$folder/hooked/$1/src/lib.rs"
}
package std 0.0.0 '' <<'RUST'
//! The standard library, with the synchronisation of Portent.
pub use portent::{sync, thread};
pub use std::*;
pub mod hint {
    pub use portent::hint::spin_loop;
    pub use std::hint::*;
}
RUST
package parking_lot 0.12.5 'lock_api = "0.4"' <<'RUST'
//! The locks of `parking_lot`, with the raw locks of Portent.
use portent::sync::lock_api::{RawMutex, RawRwLock};
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
RUST

# The sources, of them and of what they use.
rm -rf "${folder:?}"/{fetch,plain,recorded,traces}
mkdir -p "$folder"/{fetch/src,plain,recorded,traces}
printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\ncrossbeam-utils = "=0.8.21"\n' >"$folder/fetch/Cargo.toml"
for crate in "${crates[@]}"; do printf '%s = "=%s"\n' "${crate%@*}" "${crate#*@}" >>"$folder/fetch/Cargo.toml"; done
: >"$folder/fetch/src/lib.rs"
(cd "$folder/fetch" && cargo vendor -q "$folder/vendor" >/dev/null)

# Makes the standard library of a package that of Portent.
hook() {
    printf '\n[dependencies.std]\npackage = "hooked-std"\npath = "%s/hooked/std"\n' "$folder" >>"$1/Cargo.toml"
    sed -i -E '/^\[dependencies\.parking_lot\]/a package = "hooked-parking_lot"\npath = "'"$folder"'/hooked/parking_lot"' "$1/Cargo.toml"
}
# Tests of flume spawn by `crossbeam_utils::thread::scope`: so that is hooked, too.
scoped=$folder/recorded/crossbeam-utils
cp -r "$folder/vendor/crossbeam-utils" "$scoped"
rm -f "$scoped"/{.cargo-checksum.json,Cargo.lock}
printf '\n[workspace]\n' >>"$scoped/Cargo.toml"
# A handle of a thread has no number of the system.
sed -i 's/^#\[cfg(unix)\]$/#[cfg(any())]/' "$scoped/src/thread.rs"
hook "$scoped"

if [ -z "${PORTENT:-}" ]; then
    cargo build -q --manifest-path "$portent/Cargo.toml" -p portent-cli
    PORTENT=$CARGO_TARGET_DIR/debug/portent
fi

# Runs the tests of the package in this folder, one at a time; what they print goes to a file. Says how many passed, and the seconds of a
# processor that they took.
tests() {
    local log=$1 times
    # What is compiled is not counted.
    if ! cargo test -q ${options[$name]:---lib --tests} --no-run >"$log" 2>&1; then
        echo "$name cannot be compiled: see $log" >&2
        return 1
    fi
    TIMEFORMAT='%U %S'
    times=$({ time cargo test -q ${options[$name]:---lib --tests} -- --test-threads 1 ${timed[$name]:-} >"$log" 2>&1 || echo failed >&2; } 2>&1)
    if [[ $times == *failed* ]]; then
        echo "the tests of $name failed: see $log" >&2
        return 1
    fi
    local passed
    passed=$(grep -o '[0-9]* passed' "$log" | awk '{ n += $1 } END { print n + 0 }')
    echo "$passed $(awk '{ t += $1 + $2 } END { printf "%.1f", t }' <<<"$times")"
}

printf '| crate | tests pass | recorded pass | as they are | recorded | events | threads not hooked | findings |\n|---|---|---|---|---|---|---|---|\n'
for crate in "${crates[@]}"; do
    name=${crate%@*}
    for kind in plain recorded; do
        copy=$folder/$kind/$name
        cp -r "$folder/vendor/$name" "$copy"
        rm -rf "$copy"/{.cargo-checksum.json,Cargo.lock,benches,examples}
        # Sections of one dependency, example or bench each.
        for one in ${unused[$name]:-}; do sed -i -E "/^\[dev-dependencies\.$one\]/,/^\$/d" "$copy/Cargo.toml"; done
        sed -i -E '/^\[\[(bench|example)\]\]/,/^$/d' "$copy/Cargo.toml"
        printf '\n[workspace]\n' >>"$copy/Cargo.toml"
        # What compilers have warned of since is not what is looked for.
        find "$copy" -name '*.rs' -print0 | xargs -0 sed -i '/^#!\[deny(warnings)\]/d'
    done
    recorded=$folder/recorded/$name
    hook "$recorded"
    printf '\n[dev-dependencies.portent]\npath = "%s"\nfeatures = ["macros"]\n' "$portent" >>"$recorded/Cargo.toml"
    sed -i -E '/^\[dev-dependencies\.crossbeam-utils\]/a path = "'"$scoped"'"' "$recorded/Cargo.toml"
    find "$recorded" -name '*.rs' -print0 | xargs -0 sed -i -E \
        's/^( *)#\[test\]/\1#[portent::test(property = "always !no_such_event", causality = "happens-before")]/'
    read -r before plain < <(cd "$folder/plain/$name" && tests "$folder/$name.plain")
    read -r passed cost < <(cd "$recorded" && tests "$folder/$name.recorded")
    traces=$folder/traces/$name
    (cd "$recorded" && PORTENT_REPORT=$traces tests "$folder/$name.traced" >/dev/null)
    : >"$folder/$name.found"
    for trace in "$traces"/*.jsonl; do
        # 0: nothing was found; 1: something was; anything else is no answer.
        code=0
        printf '== %s\n' "$(basename "$trace" .jsonl)" >>"$folder/$name.found"
        "$PORTENT" find "$trace" >>"$folder/$name.found" 2>"$folder/$name.errors" || code=$?
        if [ $code -gt 1 ]; then
            echo "portent find $trace ended with code $code:" >&2
            cat "$folder/$name.errors" >&2
            exit 1
        fi
    done
    events=$(cat "$traces"/*.jsonl | wc -l)
    foreign=$(grep -c 'were not spawned through' "$folder/$name.recorded" || true)
    findings=$(grep -c '^PREDICTED\|^CONFIRMED\|^POSSIBLE' "$folder/$name.found" || true)
    printf '| %s | %s | %s | %s s | %s s | %s | %s | %s |\n' "$crate" "$before" "$passed" "$plain" "$cost" "$events" "$foreign" "$findings"
done
printf 'everything is in %s; what was found is in its files *.found\n' "$folder"
