#!/usr/bin/env bash
# Runs every fuzz target for a while, from the demo and our fixtures: 60 seconds each, or FUZZ_SECONDS. FUZZ_TARGETS names one,
# and FUZZ_FORMATS some of the formats of `imports`, which all have their own time.
# The flags are those of `cargo fuzz` without a sanitizer, so that stable Rust and a C++ compiler are enough.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
# With a target named, the flags are not used for build scripts and macros.
host=$(rustc -vV | sed -n 's/^host: //p')
cargo build --quiet --release --manifest-path fuzz/Cargo.toml --target-dir target/fuzz --target "$host"

found=0
# Fuzzes a target from the seeds in a folder, and keeps what it finds under a name.
fuzz() {
  local target=$1 name=$2 seeds=$3 length=$4
  local corpus=target/fuzz/corpus/$name artifacts=target/fuzz/artifacts/$name/
  mkdir -p "$corpus" "$artifacts"
  echo "── fuzzing $name for $seconds s"
  if "target/fuzz/$host/release/$target" "$corpus" "$seeds" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len="$length" \
    -artifact_prefix="$artifacts" -print_final_stats=1 -verbosity=0 2>&1 |
    { grep -vE 'NEW_FUNC|# Uses: |ecommended dictionary' || true; }; then
    echo "   nothing found"
  else
    found=1
    echo "   found something: the inputs lie in $artifacts; run target/fuzz/$host/release/$target FILE to see it again"
  fi
}

for source in fuzz/fuzz_targets/*.rs; do
  target=$(basename "$source" .rs)
  [ "${FUZZ_TARGETS-$target}" = "$target" ] || continue
  case $target in
    imports) continue ;;
    suite) fuzz "$target" "$target" demo/tasks 16384 ;;
    *) fuzz "$target" "$target" "fuzz/seeds/$target" 16384 ;;
  esac
done

# The readers of other tools' files, one format after the other.
[ "${FUZZ_TARGETS-imports}" = imports ] || exit $found
number=0
for fixtures in src-tauri/imports/tests/fixtures/*/; do
  format=$(basename "$fixtures") seeds=target/fuzz/seeds/$(basename "$fixtures")
  rm -rf "$seeds"
  mkdir -p "$seeds"
  # A seed is the number of the format, a line with the path, and the file.
  while IFS= read -r path; do
    { printf "\\x$(printf %02x $number)%s\n" "$path" && cat "$fixtures$path"; } > "$seeds/${path//\//_}"
  done < <(cd "$fixtures" && find . -type f | sed 's|^\./||')
  number=$((number + 1))
  case " ${FUZZ_FORMATS-$format} " in
    *" $format "*) TOUCHSTONE_FUZZ_FORMAT=$format fuzz imports "imports_$format" "$seeds" 65536 ;;
  esac
done
exit $found
