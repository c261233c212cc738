#!/usr/bin/env bash
# Events over NATS JetStream, with Debian's nats-server on this machine alone: processes that send, servers and streams that are killed and
# started again. Installs nats-server where it is missing, and says so where that cannot be done.
# The client of NATS asks for features of crates that everything else is built on, so nothing is shared with the other tests: all is compiled in a
# folder of its own, without optimisation, which takes a minute or two of a processor. The tests take a quarter of a minute, most of it waiting.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/sbin

install() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nats-server >/dev/null && return
    apt-get update -qq
    return 1
}

for pause in 2 10; do
    command -v nats-server >/dev/null || install || sleep "$pause"
done
if ! command -v nats-server >/dev/null; then
    echo "SKIPPED: nats-server cannot be installed here, so events over NATS were not tested"
    exit
fi
target=${CARGO_TARGET_DIR:-target}
cargo test -p portent-cli --features nats --test nats --target-dir "$target/nats" --config 'profile.test.opt-level=0' scenarios "$@"
