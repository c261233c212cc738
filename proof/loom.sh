#!/usr/bin/env bash
# Crates that nobody here wrote, with their own loom tests: each is run with loom, and with the package that stands in for it. What
# comes out is a table. Needs the network; about ten minutes, most of which compile. Not part of CI.
#
#   proof/loom.sh [FOLDER [CRATE]...]
set -euo pipefail
portent=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
shift || true

# Crate, flag of the compiler that turns loom on, and what is tested.
crates=(
    'concurrent-queue@2.5.0|loom|--test loom --features loom'
    'parking@2.2.1|loom|--test loom --features loom'
    'event-listener@5.4.2|loom|--test loom --features loom'
    'bytes@1.12.1|loom|--lib fuzz'
    'left-right@0.11.8|loom|--test loom'
)
# What one test may take, in seconds; and the bound on interruptions that loom's users set for models that are too large without.
limit=${LIMIT:-60}
export LOOM_MAX_PREEMPTIONS=${LOOM_MAX_PREEMPTIONS:-2}

export CARGO_PROFILE_TEST_OPT_LEVEL=1 CARGO_PROFILE_TEST_DEBUG=0

mkdir -p "$folder/fetch/src"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2024"\n[workspace]\n[dependencies]\n' >"$folder/fetch/Cargo.toml"
for entry in "${crates[@]}"; do
    crate=${entry%%|*}
    printf '%s = "=%s"\n' "${crate%@*}" "${crate#*@}" >>"$folder/fetch/Cargo.toml"
done
: >"$folder/fetch/src/lib.rs"
(cd "$folder/fetch" && cargo vendor -q ../vendor >/dev/null)

# One test alone: whether it passes, how many runs it takes, and how many seconds of a processor.
one() {
    local kind=$1 binary=$2 test=$3 log=$4 used runs code=0 status
    used=$( { TIMEFORMAT='%U'; time LOOM_LOG=info timeout "$limit" "$binary" --exact "$test" --nocapture --test-threads 1 >"$log" 2>&1; } 2>&1) || code=$?
    case $code in
    0) status=passes ;;
    124) status='is not over' ;;
    *) status=fails ;;
    esac
    if [ "$kind" = loom ]; then
        runs=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -o 'Completed in [0-9]*' | awk '{ n += $3 } END { print n + 0 }')
    else
        # Where one run of every class is too much, these were tried first.
        runs=$(grep -o 'loom on Portent: [0-9]* executions.*' "$log" |
            awk '/stopped after as many runs/ { more += $4; next } { n += $4 } END { print n + 0 (more ? " + " more : "") }')
    fi
    [ "$runs" != 0 ] || runs='–'
    printf '%s, %s runs, %s s' "$status" "$runs" "$used"
}

printf '| crate | test | loom 0.7.2 | Portent |\n|---|---|---|---|\n'
for entry in "${crates[@]}"; do
    IFS='|' read -r crate flag what <<<"$entry"
    name=${crate%@*}
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    declare -A binaries=()
    for kind in loom portent; do
        place=$folder/$kind/$name
        rm -rf "$place"
        mkdir -p "$folder/$kind"
        cp -r "$folder/vendor/$name" "$place"
        rm -f "$place"/{.cargo-checksum.json,Cargo.lock}
        printf '\n[workspace]\n' >>"$place/Cargo.toml"
        if [ "$kind" = portent ]; then printf '\n[patch.crates-io]\nloom = { path = "%s/loom" }\n' "$portent" >>"$place/Cargo.toml"; fi
        build="cargo test --target-dir $folder/target/$kind --no-run --message-format json"
        # Nothing is solved here.
        [ "$kind" = loom ] || build+=" --config profile.test.package.portent-lattice.opt-level=0"
        # shellcheck disable=SC2086
        (cd "$place" && RUSTFLAGS="--cfg $flag" $build ${what%% fuzz} 2>"$folder/$kind-$name.build" >"$folder/$kind-$name.json") ||
            { printf '| %s | does not build with %s | | |\n' "$crate" "$kind"; continue 2; }
        binaries[$kind]=$(grep -o '"executable":"[^"]*"' "$folder/$kind-$name.json" | tail -1 | cut -d'"' -f4)
    done
    filter=
    [[ $what != *' fuzz' ]] || filter=fuzz
    while read -r test; do
        test=${test%: test}
        printf '| %s | `%s` |' "$crate" "$test"
        for kind in loom portent; do
            printf ' %s |' "$(one "$kind" "${binaries[$kind]}" "$test" "$folder/$kind-$name-${test//:/_}.log")"
        done
        printf '\n'
    done < <("${binaries[loom]}" --list $filter 2>/dev/null | grep ': test$')
done
printf '\neverything is in %s\n' "$folder" >&2
