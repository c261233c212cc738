#!/usr/bin/env bash
# Debian's Chromium, and playwright-core under the target folder, where they are missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

PLAYWRIGHT=1.64.1
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
modules=$target/browser

retry() {
  for pause in 2 10 30; do
    "$@" && return
    echo "failed: $*; once more in $pause s" >&2
    sleep "$pause"
  done
  "$@"
}

install_chromium() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null && return
  apt-get update -qq
  return 1
}

command -v chromium >/dev/null || retry install_chromium
if [ ! -e "$modules/node_modules/playwright-core/package.json" ]; then
  mkdir -p "$modules"
  echo '{"private": true}' >"$modules/package.json"
  retry npm install --prefix "$modules" --no-audit --no-fund --loglevel=error "playwright-core@$PLAYWRIGHT"
fi
