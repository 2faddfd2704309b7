#!/usr/bin/env bash
# Attacks the program at length; ATTACK=10 tries a tenth of it. Prints one line for each kind.
set -uo pipefail
cd "$(dirname "$0")/.."
part=${ATTACK:-1}
share() { echo $((($1 + part - 1) / part)); }
export TOUCHSTONE_ATTACK_MARKUP TOUCHSTONE_ATTACK_PROVIDERS TOUCHSTONE_ATTACK_CALLS TOUCHSTONE_ATTACK_FILES TOUCHSTONE_ATTACK_CACHES
export TOUCHSTONE_ATTACK_CONNECTIONS
TOUCHSTONE_ATTACK_MARKUP=$(share 3000)
TOUCHSTONE_ATTACK_PROVIDERS=$(share 500)
TOUCHSTONE_ATTACK_CALLS=$(share 5000)
TOUCHSTONE_ATTACK_FILES=$(share 20000)
# Each case damages a cache three times, once closed and once open.
TOUCHSTONE_ATTACK_CACHES=$(share 84)
# Seconds of each attack, at least 6 s, since strangers speak every 3 s.
TOUCHSTONE_ATTACK_CONNECTIONS=$(($(share 60) > 6 ? $(share 60) : 6))
logs=target/attack-logs
mkdir -p "$logs"
failed=0
step() {
  local name=$1 begun=$SECONDS
  shift
  echo "── $name"
  if "$@" >"$logs/$name.log" 2>&1 </dev/null; then
    grep -ohE 'figure: .*' "$logs/$name.log" | sed 's/^figure: /   /'
    echo "   held, $((SECONDS - begun)) s"
  else
    tail -n 40 "$logs/$name.log"
    grep -ohE 'TOUCHSTONE_SEED=[0-9]+' "$logs/$name.log" | sort -u
    echo "   FAILED after $((SECONDS - begun)) s; all of it in $logs/$name.log"
    failed=1
  fi
}
cargo build --workspace && cargo test --workspace --test attack --test faults --no-run || exit 1
for kind in providers files caches window connections; do
  step "$kind" cargo test --workspace --test attack -- --nocapture --test-threads=1 "$kind::"
done
step markup node --test tests/attack/markup.test.mjs
# As many kills of plain runs, and a quarter as many of each of the seven other kinds of work: 5,000 together.
TOUCHSTONE_KILLS=$(share 1820) step kills cargo test --workspace --test faults -- --nocapture whenever_it_is_killed
exit $failed
