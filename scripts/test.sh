#!/usr/bin/env bash
# Runs the checks (`check`), with `all` also every test, with `fast` the layers and the tests of what only computes; cheap
# ones first. Goes on after a failure, so that one run shows everything.
# Ends with a line `N passed, N failed` over all of it. Logs lie in target/test-logs.
set -uo pipefail
cd "$(dirname "$0")/.."
what=${1:-all}
logs=target/test-logs
mkdir -p "$logs"
passed=0 failed=0 broken=()
# Packages that only compute. So does `imports`, but it has a C library for compression.
pure=(model formats metrics judges scoring redteam api)

# How many tests the log of a step counts: cargo test, vitest and node's runner say it in their own words. A step that counts nothing is one.
count() {
  awk '
    { gsub(/\033\[[0-9;]*m/, "") }
    /^test result:/ { p += $4; f += $6 }
    /^ *Tests +[0-9]/ { for (i = 2; i <= NF; i++) { if ($i == "passed") p += $(i-1); if ($i == "failed") f += $(i-1) } }
    /^(#|ℹ) pass [0-9]+$/ { p += $3 }
    /^(#|ℹ) fail [0-9]+$/ { f += $3 }
    END { print p + 0, f + 0 }' "$1"
}

# Prints what each failed test of a log said, which the end of a long log does not show.
failures() {
  grep -nE '^(not ok |test .* FAILED$| *(FAIL|×) |---- .* stdout ----|error: test failed)|panicked at' -A 14 "$1" | head -n 150
}

# step NAME COMMAND…
step() {
  local name=$1 log begun=$SECONDS status=0 p f
  shift
  log="$logs/${name// /-}.log"
  echo "── $name"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  read -r p f < <(count "$log")
  if [ "$status" = 0 ] && [ "$f" = 0 ]; then
    [ "$p" = 0 ] && p=1
    echo "   $p passed in $((SECONDS - begun)) s"
  else
    [ "$f" = 0 ] && f=1
    tail -n 60 "$log"
    failures "$log"
    echo "   FAILED ($f failed, $p passed, exit status $status) after $((SECONDS - begun)) s; all of it in $log"
    broken+=("$name")
  fi
  passed=$((passed + p)) failed=$((failed + f))
}

# Integration tests of all packages but the window's, which comes last: names of cargo test targets.
test_targets() {
  cargo metadata --format-version 1 --no-deps | node -e '
    const all = JSON.parse(require("fs").readFileSync(0, "utf8")).packages.flatMap((p) => p.targets);
    for (const t of all) if (t.kind.includes("test") && t.name !== "desktop") console.log(`--test=${t.name}`);'
}

generated_types() {
  local changed
  changed=$(git status --porcelain -- ui/src/generated)
  [ -z "$changed" ] && return 0
  echo "The generated types differ from what is committed. Commit what the tests wrote:"
  echo "$changed"
  git --no-pager diff --stat -- ui/src/generated
  return 1
}

# Clippy compiles what the tests run, so that nothing is compiled twice. If it finds something, the tests are compiled without it,
# so that they still run.
clippy() {
  export RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
  cargo test --workspace --all-targets --no-run && return 0
  unset RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS
  return 1
}

rust_tests() {
  local targets
  mapfile -t targets < <(test_targets)
  # The set-up brings both other readers of YAML, so a test that did not ask them has failed. Most tests of the engine and the
  # command line wait for something, so there are more of them at a time than processors.
  TOUCHSTONE_REQUIRE_YAML_PEERS=1 RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))} \
    cargo test --workspace --no-fail-fast --lib --bins "${targets[@]}"
}

# A directory would be taken for one test file, so the files are named.
browser_tests() { node --test --test-concurrency="$(nproc)" tests/browser/*.test.mjs tests/attack/*.test.mjs; }

step "formatting" cargo fmt --all --check
if [ "$what" = fast ]; then
  step "layers" cargo test --quiet --workspace --test layers
  step "unit tests" cargo test --no-fail-fast --lib "${pure[@]/#/--package=touchstone-}" -p touchstone-imports
  step "page tests" npm --prefix ui test --silent
else
  step "licences and sources" cargo deny check bans licenses sources
  # The database of advisories lies on the network, and tests stay on this machine: asked for by name.
  if [ -n "${TOUCHSTONE_ADVISORIES:-}" ]; then step "advisories" cargo deny check advisories; fi
  step "unused dependencies" cargo shear
  step "types of the page" npm --prefix ui run --silent check
  step "lint of the page" npm --prefix ui run --silent lint
  step "clippy" clippy
  # What builds for a target without files, network and clock uses none. The set-up installs the target where rustup can.
  if [ -d "$(rustc --print target-libdir --target wasm32-unknown-unknown)" ]; then
    step "pure crates" cargo check --quiet --target wasm32-unknown-unknown "${pure[@]/#/--package=touchstone-}"
  else
    echo "── pure crates: skipped, because the target wasm32-unknown-unknown is not installed"
  fi
  if [ "$what" = all ]; then
    step "rust tests" rust_tests
    step "command line reference" scripts/cli-reference.py --check
    step "page tests" npm --prefix ui test --silent
    step "browser tests" browser_tests
    step "window tests" cargo test --test desktop
  else
    step "layers" cargo test --quiet --workspace --test layers
    step "types" cargo test --quiet --workspace --lib --test engine -- export
  fi
  step "generated types" generated_types
fi

echo
if [ ${#broken[@]} -gt 0 ]; then printf 'Failed: %s\n' "${broken[@]}"; fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
