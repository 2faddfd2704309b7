#!/usr/bin/env bash
# Runs every fuzz target for a while, from the demo and our fixtures: 60 seconds each, or FUZZ_SECONDS.
# The flags are those of `cargo fuzz` without a sanitizer, so that stable Rust and a C++ compiler are enough.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
# With a target named, the flags are not used for build scripts and macros.
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --quiet --release --manifest-path fuzz/Cargo.toml --target-dir target/fuzz --target "$host"

found=0
for source in fuzz/fuzz_targets/*.rs; do
  target=$(basename "$source" .rs)
  corpus=target/fuzz/corpus/$target seeds=fuzz/seeds/$target artifacts=target/fuzz/artifacts/$target/
  [ "$target" = suite ] && seeds=demo/tasks
  mkdir -p "$corpus" "$artifacts"
  echo "── fuzzing $target for $seconds s"
  if "target/fuzz/$host/release/$target" "$corpus" "$seeds" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=16384 \
    -artifact_prefix="$artifacts" -print_final_stats=1 -verbosity=0 2>&1 |
    { grep -vE 'NEW_FUNC|# Uses: |ecommended dictionary' || true; }; then
    echo "   nothing found"
  else
    found=1
    echo "   found something: the inputs lie in $artifacts; run target/fuzz/$host/release/$target FILE to see it again"
  fi
done
exit $found
