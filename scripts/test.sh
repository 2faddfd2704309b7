#!/usr/bin/env bash
# Runs the checks (`check`), with `all` also every test, with `fast` the formatting and the unit tests.
# Goes on after a failure, so that one run shows everything. Ends with a line `N passed, N failed` over all of it.
# Logs lie in target/test-logs.
set -uo pipefail
cd "$(dirname "$0")/.."
what=${1:-all}
logs=target/test-logs
results=$logs/results
mkdir -p "$logs"
: >"$results"
# Steps beside others ignore an interrupt from the keyboard, so it is passed on.
trap 'trap "" TERM; kill -TERM 0; exit 130' INT TERM

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

# step NAME COMMAND…: runs a command with its output in a log, prints how it ended, and appends `begun,NAME` and
# `ended,NAME,PASSED,FAILED` to the results. Prints all at once, because steps run beside each other.
step() {
  local name=$1 log begun=$SECONDS status=0 p f
  shift
  log="$logs/${name// /-}.log"
  echo "begun,$name" >>"$results"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  read -r p f < <(count "$log")
  if [ "$status" = 0 ] && [ "$f" = 0 ]; then
    [ "$p" = 0 ] && p=1
    echo "── $name: $p passed in $((SECONDS - begun)) s"
  else
    [ "$f" = 0 ] && f=1
    printf '%s\n' "── $name" "$(tail -n 60 "$log")" "$(failures "$log")" \
      "   FAILED: $name ($f failed, $p passed, exit status $status) after $((SECONDS - begun)) s; all of it in $log"
  fi
  echo "ended,$name,$p,$f" >>"$results"
}

# Adds up the results. A step that was begun and never ended has failed.
summary() {
  echo
  awk -F, '$1 == "begun" { open[$2] = 1 }
    $1 == "ended" { delete open[$2]; p += $3; f += $4; if ($4 > 0) print "Failed: " $2 }
    END { for (name in open) { print "Failed: " name " was ended from outside"; f++ }
      print p + 0 " passed, " f + 0 " failed"; exit f > 0 || NR == 0 }' "$results"
}

# Waits for the steps beside these. They return 0 also when a test failed, so another status means that they were killed.
wait_for() { wait "$1" || echo "begun,steps beside others" >>"$results"; }

# Clippy in place of the compiler, for our own packages only: lints while compiling, so that nothing is read twice. Cargo keeps
# such builds apart, so every step below uses it.
cargo_linted() { RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo "$@"; }

# Compiles and lints every target. Cargo repeats the warnings of what is compiled already.
build_and_lint() {
  local log=$logs/build-output.log
  cargo_linted test --color never --workspace --all-targets --no-run >"$log" 2>&1 || { cat "$log"; return 1; }
  cat "$log"
  ! grep -q '^warning: `touchstone[^`]*` (' "$log"
}

# Runs test programs, chosen by target and never by package: packages alone would get other features of their dependencies, and
# be compiled again.
rust_tests() {
  # The set-up brings both other readers of YAML, so a test that did not ask them has failed.
  TOUCHSTONE_REQUIRE_YAML_PEERS=1 cargo_linted test --workspace --no-fail-fast "$@"
}

# Test targets that no other step names, so that a new one is never left out.
other_targets() {
  cargo metadata --format-version 1 --no-deps | node -e '
    const all = JSON.parse(require("fs").readFileSync(0, "utf8")).packages.flatMap((p) => p.targets);
    const named = ["engine", "cli", "faults", "attack", "desktop"];
    for (const t of all) if (t.kind.includes("test") && !named.includes(t.name)) console.log(`--test=${t.name}`);'
}

unit_tests() {
  local targets
  mapfile -t targets < <(other_targets)
  rust_tests --lib --bins "${targets[@]}"
}

# A directory would be taken for one test file, so the files are named.
browser_tests() { node --test --test-concurrency=2 tests/browser/*.test.mjs tests/attack/*.test.mjs; }

page_checks() {
  step "types of the page" npm --prefix ui run --silent check
  step "lint of the page" npm --prefix ui run --silent lint
}

page_tests() { step "page tests" npm --prefix ui test --silent; }

# What builds for a target without files, network and clock uses none. The set-up installs the target where it can.
pure_crates() {
  if [ -d "$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null)" ]; then
    step "pure crates" cargo check --quiet --target wasm32-unknown-unknown --package=touchstone-{formats,imports,scoring,api}
  else
    echo "── pure crates: SKIPPED, because the target wasm32-unknown-unknown is not installed"
  fi
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

step "formatting" cargo fmt --all --check
if [ "$what" != fast ]; then
  step "licences and sources" cargo deny check bans licenses sources
  # The database of advisories lies on the network, and tests stay on this machine: asked for by name.
  if [ -n "${TOUCHSTONE_ADVISORIES:-}" ]; then step "advisories" cargo deny check advisories; fi
  step "unused dependencies" cargo shear
fi
case $what in
  fast)
    page_tests &
    beside=$!
    step "unit tests" rust_tests --lib --bins --test layers
    wait_for $beside
    ;;
  check)
    page_checks &
    beside=$!
    pure_crates
    step "build and clippy" build_and_lint
    wait_for $beside
    step "layers" rust_tests --quiet --test layers
    step "types" rust_tests --quiet --lib --test engine -- export
    ;;
  all)
    (page_checks; page_tests) &
    beside=$!
    pure_crates
    step "build and clippy" build_and_lint
    wait_for $beside
    # The browser and the programs wait most of their time. Tests of the engine have deadlines of a second: they come last.
    (step "command line reference" scripts/cli-reference.py --check; step "browser tests" browser_tests) &
    beside=$!
    step "program tests" rust_tests --test attack --test cli --test faults
    step "unit tests" unit_tests
    step "engine tests" rust_tests --test engine
    wait_for $beside
    # Alone, because it is the only step that looks at a window.
    step "window tests" rust_tests --test desktop
    ;;
esac
step "generated types" generated_types
summary
