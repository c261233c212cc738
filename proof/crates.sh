#!/usr/bin/env bash
# Crates that nobody here wrote, with their own concurrent tests: their standard library becomes one whose `sync`, `thread`, `hint` and
# `thread_local!` are those of Portent, and their `parking_lot` one whose raw locks are. That is a line each in their Cargo.toml; of their sources
# only `#[test]` is changed, so that each test is recorded and leaves its trace (and quick_cache gets three lines that name what happens). In it `portent find` looks for races and deadlocks, and
# `portent check` at the properties in proof/CRATE.portent. Takes crates from the registry, or from its cache where there is no network. About
# a quarter of an hour of a processor; not part of CI. What came out is in proof/README.md.
#
#   proof/crates.sh [FOLDER]
#
# CRATES="threadpool@1.8.1 ..."   which of them
# PORTENT=PATH                    the command, if it need not be compiled
# SECONDS_EACH=600                how long the tests of a crate may take, and a search in a trace
# GIGABYTES=8                     how much memory they may take
set -euo pipefail
portent=$(cd "$(dirname "$0")/.." && pwd)
folder=$(realpath -m "${1:-$(mktemp -d)}")
read -ra crates <<<"${CRATES:-threadpool@1.8.1 spmc@0.3.0 quick_cache@0.6.24 flume@0.11.1}"
limit=${SECONDS_EACH:-600} memory=$((${GIGABYTES:-8} << 20))
# Nothing asynchronous: what wakes tasks is not hooked. (The test `mpsc` of flume is of another crate's channels.)
declare -A options=([flume]='--no-default-features --lib --test array --test basic --test iter --test list --test zero' [spmc]=--lib)
# Tests that are left out, as they are and recorded: those that fail if the machine is busy, and one that counts the bytes of its lock.
declare -A left_out=([flume]='--skip recv_deadline --skip recv_timeout --skip send_timeout' [quick_cache]='--skip entry_overhead')
# What their tests depend on but no test that is recorded does.
declare -A unused=([spmc]=loom [flume]='async-std criterion futures getrandom tokio waker-fn' [quick_cache]='criterion rand_distr')
# Tests that do the same millions of times do it less often, as they are and recorded: a recording keeps every operation.
declare -A smaller=([threadpool]='s/4_200_000/42_000/' [flume]='s/(COUNT: usize = [0-9]+)_000;/\10;/' [quick_cache]='s/(N_ROUNDS: usize = 1)_000;/\10;/; s/(for _i in 0\.\.[25])000 /\10 /')
# Lines that are added to a source after a line that is this, as `sed` wants it: for the property.
declare -A lines=([quick_cache]='src/sync_placeholder.rs
/^ *unsafe \{ self\.shared\.value\.set\(/a portent::event!(inserted, std::sync::Arc::as_ptr(\&self.shared) as usize);
/^ *if (already_filled|shared\.value\(\)\.is_some\(\)) \{$/a portent::event!(found, std::sync::Arc::as_ptr(\&shared) as usize);')
export CARGO_TARGET_DIR=$folder/target CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_TERM_COLOR=never

fail() {
    printf 'crates.sh: %s\n' "$*" >&2
    exit 1
}

for tool in cargo awk timeout; do command -v "$tool" >/dev/null || fail "there is no \`$tool\`"; done
mkdir -p "$folder"

# What the registry has to give, with the network or without.
fetch() {
    local log=$folder/fetch.log
    timeout 120 "$@" >"$log" 2>&1 && return
    timeout 120 "$@" --offline >>"$log" 2>&1 || fail "the registry cannot be reached and not all of it is in its cache (run once with the network): see $log"
}

# A package of one file, which comes on standard input.
package() {
    mkdir -p "$folder/hooked/$1/src"
    printf '[package]\nname = "hooked-%s"\nversion = "%s"\nedition = "2024"\n[workspace]\n[dependencies]\n' "$1" "$2" >"$folder/hooked/$1/Cargo.toml"
    printf 'portent = { path = "%s", features = ["lock_api", "macros"] }\n%s\n' "$portent" "$3" >>"$folder/hooked/$1/Cargo.toml"
    cat >"$folder/hooked/$1/src/lib.rs"
}
package std 0.0.0 '' <<'RUST'
//! The standard library, with the synchronisation of Portent.
pub use portent::{hint, sync, thread, thread_local};
pub use std::*;
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
fetch cargo vendor --manifest-path "$folder/fetch/Cargo.toml" "$folder/vendor"

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
    cargo build -q --manifest-path "$portent/Cargo.toml" -p portent-cli || fail 'the command `portent` cannot be compiled'
    PORTENT=$CARGO_TARGET_DIR/debug/portent
fi
"$PORTENT" --version >/dev/null || fail "$PORTENT is not the command \`portent\`"

# Runs the tests of the package in this folder, one at a time; what they print goes to a file. Says how many passed, and the seconds of a
# processor that they took.
tests() {
    local log=$1 times code=0
    # What is compiled is not counted.
    cargo test -q ${options[$name]:---lib --tests} --no-run >"$log" 2>&1 || fail "$name cannot be compiled: see $log"
    TIMEFORMAT='%U %S'
    times=$({ ulimit -v "$memory"; time timeout -k 10 "$limit" cargo test -q ${options[$name]:---lib --tests} -- --test-threads 1 ${left_out[$name]:-} >"$log" 2>&1 || echo "failed $?" >&2; } 2>&1)
    code=$(awk '$1 == "failed" { print $2 }' <<<"$times")
    case $code in
    '') ;;
    124 | 137) fail "the tests of $name did not end within $limit s: see $log" ;;
    *) fail "the tests of $name failed: see $log" ;;
    esac
    local passed
    passed=$(grep -o '[0-9]* passed' "$log" | awk '{ n += $1 } END { print n + 0 }')
    [ "$passed" -gt 0 ] || fail "$name ran no test: see $log"
    echo "$passed $(awk '{ t += $1 + $2 } END { printf "%.1f", t }' <<<"$times")"
}

# A copy of the crate in the folder of this kind.
copy() {
    local copy=$folder/$1/$name
    cp -r "$folder/vendor/$name" "$copy"
    rm -rf "$copy"/{.cargo-checksum.json,Cargo.lock,benches,examples}
    # Sections of one dependency, example or bench each.
    for one in ${unused[$name]:-}; do sed -i -E "/^\[dev-dependencies\.$one\]/,/^\$/d" "$copy/Cargo.toml"; done
    sed -i -E '/^\[\[(bench|example)\]\]/,/^$/d' "$copy/Cargo.toml"
    printf '\n[workspace]\n' >>"$copy/Cargo.toml"
    [ -z "${smaller[$name]:-}" ] || find "$copy" -name '*.rs' -print0 | xargs -0 sed -i -E "${smaller[$name]}"
    # What compilers have warned of since is not what is looked for.
    find "$copy" -name '*.rs' -print0 | xargs -0 sed -i '/^#!\[deny(warnings)\]/d'
    if [ "$1" = recorded ]; then
        hook "$copy"
        printf '\n[dependencies.portent]\npath = "%s"\nfeatures = ["macros"]\n' "$portent" >>"$copy/Cargo.toml"
        sed -i -E '/^\[dev-dependencies\.crossbeam-utils\]/a path = "'"$scoped"'"' "$copy/Cargo.toml"
        find "$copy" -name '*.rs' -print0 | xargs -0 sed -i -E \
            's/^( *)#\[test\]/\1#[portent::test(property = "always !no_such_event", causality = "happens-before")]/'
        if [ -n "${lines[$name]:-}" ]; then
            sed -i -E "${lines[$name]#*$'\n'}" "$copy/${lines[$name]%%$'\n'*}"
        fi
    fi
    fetch cargo fetch --manifest-path "$copy/Cargo.toml"
}

# The command on one trace. 0: nothing was found; 1: something was; anything else is no answer.
ask() {
    local code=0
    (ulimit -v "$memory" && exec timeout -k 10 "$limit" "$PORTENT" "$@" 2>"$folder/$name.errors") || code=$?
    case $code in
    0 | 1) ;;
    124 | 137) fail "portent $* did not end within $limit s" ;;
    *)
        cat "$folder/$name.errors" >&2
        fail "portent $* ended with code $code"
        ;;
    esac
}

# The properties of a crate, about the objects of this trace: later ones of a process have a number behind the name of their place. Where
# several of one place are in the trace the property is not asked, as it would not know which belong together.
about() {
    local spec object objects found
    spec=$(<"$portent/proof/$name.portent")
    mapfile -t objects < <(grep -o '"[A-Za-z]*@[^"]*:[0-9]*"' <<<"$spec" | sort -u)
    for object in "${objects[@]}"; do
        found=$(grep -o -E "${object%?}(#[0-9]+)?\"" "$1" | sort -u || true)
        [ -z "$found" ] || [[ $found == *$'\n'* ]] || spec=${spec//"$object"/"$found"}
    done
    printf '%s\n' "$spec"
}

# How many lines of a file begin so.
count() { grep -c -E "$1" "$2" || true; }

printf '%s, %s, %s processors\n' "$(date -u +%F)" "$(rustc --version)" "$(nproc)"
printf '| crate | tests pass | recorded pass | as they are | recorded | events | threads not hooked | races and deadlocks: observed, shown, possible | properties: tests asked, violations observed, predicted |\n'
printf '|---|---|---|---|---|---|---|---|---|\n'
for crate in "${crates[@]}"; do
    name=${crate%@*}
    copy plain
    copy recorded
    result=$(cd "$folder/plain/$name" && tests "$folder/$name.plain")
    read -r before plain <<<"$result"
    result=$(cd "$folder/recorded/$name" && tests "$folder/$name.recorded")
    read -r passed cost <<<"$result"
    traces=$folder/traces/$name
    (cd "$folder/recorded/$name" && PORTENT_REPORT=$traces tests "$folder/$name.traced" >/dev/null)
    : >"$folder/$name.found"
    : >"$folder/$name.checked"
    asked=0
    for trace in "$traces"/*.jsonl; do
        [ -e "$trace" ] || fail "the tests of $name left no trace in $traces"
        test=$(basename "$trace" .jsonl)
        printf '== %s\n' "$test" >>"$folder/$name.found"
        ask find --causality strong "$trace" >>"$folder/$name.found"
        if [ -e "$portent/proof/$name.portent" ]; then
            about "$trace" >"$folder/$name.portent"
            ask check --complete --spec "$folder/$name.portent" "$trace" >"$folder/$name.answer"
            { printf '== %s\n' "$test"; cat "$folder/$name.answer"; } >>"$folder/$name.checked"
            ! grep -q -E '^[a-z_]+.*(  (holds|PREDICTED|OBSERVED)|, none violated$)' "$folder/$name.answer" || asked=$((asked + 1))
        fi
    done
    events=$(cat "$traces"/*.jsonl | grep -c '"op": ')
    foreign=$(count 'were not spawned through' "$folder/$name.recorded")
    found="$(count '^OBSERVED' "$folder/$name.found"), $(count '^SHOWN' "$folder/$name.found"), $(count '^POSSIBLE' "$folder/$name.found")"
    checked="$asked, $(count '  OBSERVED' "$folder/$name.checked"), $(count '  PREDICTED' "$folder/$name.checked")"
    printf '| %s | %s | %s | %s s | %s s | %s | %s | %s | %s |\n' "$crate" "$before" "$passed" "$plain" "$cost" "$events" "$foreign" "$found" "$checked"
done
printf 'everything is in %s; what was found is in its files *.found, what properties say in *.checked\n' "$folder"
