#!/usr/bin/env bash
# Brings a fresh Debian 12 or Ubuntu 22.04 (or newer) to where `make run` and `make test` work. Says nothing when nothing is to do.
# Usage: setup.sh run|test
set -euo pipefail
cd "$(dirname "$0")/.."
PATH="$PWD/.tools/bin:$PWD/.tools/node/node_modules/.bin:$HOME/.cargo/bin:$PATH"
for_tests=$([ "${1:-run}" = test ] && echo yes || echo no)

say() { echo "$*" >&2; }
have() { command -v "$1" >/dev/null 2>&1; }
# True when the dotted version $1 is at least $2.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }
installed() { [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]; }

browser() {
  local name
  for name in "${TOUCHSTONE_CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    if [ -n "$name" ] && have "$name"; then return 0; fi
  done
  [ -d .tools/browsers ]
}

postgres() {
  local program
  for program in /usr/lib/postgresql/*/bin/initdb; do [ -x "$program" ] && return 0; done
  have postgres && [ -x "$(dirname "$(readlink -f "$(command -v postgres)")")/initdb" ]
}

# The package of PostgreSQL makes a database and starts a server by itself; the tests start their own, so it is told not to.
without_a_server() {
  local told=/etc/postgresql-common/createcluster.conf
  if [ -e "$told" ] || ! may_be_root; then return 0; fi
  $as_root mkdir -p "${told%/*}"
  echo 'create_main_cluster = false' | $as_root tee "$told" >/dev/null
}

node_is_new_enough() {
  have node && have npm || return 1
  local version
  version=$(node -p process.versions.node)
  case $version in
    20.*) at_least "$version" 20.19.0 ;;
    22.*) at_least "$version" 22.13.0 ;;
    *) at_least "$version" 24.0.0 ;;
  esac
}

as_root=""
may_be_root() {
  [ "$(id -u)" = 0 ] && return 0
  if have sudo && sudo -n true 2>/dev/null; then as_root="sudo"; return 0; fi
  return 1
}

# Installs packages of the distribution, or says the line that does.
apt_install() {
  if ! may_be_root; then
    say "These packages are missing, and installing them needs root. Please type:"
    if have sudo; then
      say "  sudo apt-get update && sudo apt-get install -y $*"
    else
      say "  su -c 'apt-get update && apt-get install -y $*'"
    fi
    say "and then the same make command again."
    exit 1
  fi
  say "Installing from the distribution: $*"
  $as_root apt-get update -qq >&2
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2 </dev/null
}

system_packages() {
  if ! have dpkg-query; then
    have pkg-config && pkg-config --exists webkit2gtk-4.1 && return 0
    say "This script installs packages on Debian and Ubuntu only. Please install WebKitGTK 4.1, GTK 3 and librsvg with their"
    say "headers, OpenSSL's headers, a C compiler and pkg-config by hand; the tests also need Xvfb, WebKitWebDriver, Chromium, PyYAML and GNOME Keyring."
    exit 1
  fi
  local wanted=(libwebkit2gtk-4.1-dev libgtk-3-dev librsvg2-dev libssl-dev build-essential pkg-config curl ca-certificates git bubblewrap python3)
  if [ "$for_tests" = yes ]; then wanted+=(xvfb webkit2gtk-driver python3-yaml fonts-dejavu-core openssl gnome-keyring); fi
  # On Ubuntu `chromium` is only a pointer to a snap; there the browser comes in `browser_for_tests`.
  if [ "$for_tests" = yes ] && ! browser && ! grep -qi '^ID=ubuntu' /etc/os-release; then wanted+=(chromium); fi
  if [ "$for_tests" = yes ] && ! python3 -m pip --version >/dev/null 2>&1; then wanted+=(python3-pip); fi
  # Any version will do; the package `postgresql` is whichever the distribution has.
  if [ "$for_tests" = yes ] && ! postgres; then wanted+=(postgresql); fi
  # Debian 12 and Ubuntu 22.04 ship a Node that is too old for the page, but its npm can fetch a new one.
  if ! have npm || ! have node; then wanted+=(nodejs npm); fi
  local missing=() package
  for package in "${wanted[@]}"; do installed "$package" || missing+=("$package"); done
  case " ${missing[*]} " in *" postgresql "*) without_a_server ;; esac
  if [ ${#missing[@]} -gt 0 ]; then apt_install "${missing[@]}"; fi
}

rust() {
  local wanted
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1.0/p' Cargo.toml)
  if have cargo && at_least "$(cargo --version | cut -d' ' -f2)" $wanted; then
    :
  elif have rustup; then
    say "Rust is older than $wanted: updating it with rustup."
    rustup toolchain install stable --profile minimal --component clippy,rustfmt >&2
    rustup default stable >&2
  else
    say "Rust $wanted or newer is missing: installing it with rustup into ~/.cargo."
    local installer
    # Fetched whole before it is run, so that a broken connection runs no half of it.
    if ! installer=$(curl --proto '=https' --tlsv1.2 -fsS https://sh.rustup.rs) ||
      ! sh -s -- -y --quiet --profile minimal --component clippy,rustfmt --default-toolchain stable --no-modify-path <<<"$installer" >&2; then
      say "Rust could not be installed: the lines above say why. Please install Rust $wanted or newer by hand (https://rustup.rs, or"
      say "from a machine that has it: copy its ~/.cargo and ~/.rustup here), and then type the same make command again."
      exit 1
    fi
  fi
  if [ "$for_tests" = yes ] && ! { cargo clippy --version && cargo fmt --version; } >/dev/null 2>&1; then
    say "Installing clippy and rustfmt."
    if have rustup; then rustup component add clippy rustfmt >&2; else apt_install rust-clippy rustfmt; fi
  fi
  if [ "$for_tests" = yes ]; then target_of_pure_crates; fi
}

# The pure crates are also checked for a target without files and network. Without it, the tests say that this is left out.
target_of_pure_crates() {
  local target=wasm32-unknown-unknown
  [ -d "$(rustc --print target-libdir --target $target 2>/dev/null)" ] && return 0
  say "Installing the target $target, for which the pure crates are checked."
  if have rustup; then
    rustup target add $target >&2 && return 0
  elif installed rustc && may_be_root; then
    # The subshell keeps a failure of the package manager from ending the set-up.
    (apt_install libstd-rust-dev-wasm32) && return 0
  fi
  say "That did not work, so this check is left out."
}

page_tools() {
  if node_is_new_enough; then return 0; fi
  local arch
  case $(uname -m) in
    x86_64) arch=x64 ;;
    aarch64) arch=arm64 ;;
    *) say "Node 20.19 or newer is needed, and there is no ready one for $(uname -m): please install it."; exit 1 ;;
  esac
  say "Node is missing or older than 20.19: installing Node 22 into .tools/node, for this folder only."
  mkdir -p .tools/node
  npm install --prefix .tools/node --no-save --no-audit --no-fund --loglevel=error "node-linux-$arch@22" npm@10 >&2
  hash -r
  node_is_new_enough || { say "Node is still too old: $(node --version 2>&1)"; exit 1; }
}

# Tools of the checks, compiled already, from the package index of Python (scripts/tools.txt has versions and hashes).
prebuilt_tools() {
  if cmp -s scripts/tools.txt .tools/python/.installed; then return 0; fi
  python3 -m pip --version >/dev/null 2>&1 || return 1
  say "Installing the tools of the checks into .tools."
  rm -rf .tools/python
  # A folder of its own: pip refuses to write into the Python of the distribution.
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --target .tools/python -r scripts/tools.txt >&2 || return 1
  mkdir -p .tools/bin
  mv .tools/python/bin/* .tools/bin/
  cp scripts/tools.txt .tools/python/.installed
}

# Builds one tool where none is prebuilt. Unoptimised: it runs for seconds, and is built in half the time.
cargo_tool() {
  local name=$1 version
  version=$(sed -n "s/^astral-dev-toolchain-$name==\([0-9.]*\).*/\1/p" scripts/tools.txt)
  if [ "$("$name" --version 2>/dev/null | grep -o '[0-9.]*$')" = "$version" ]; then return 0; fi
  say "Building $name $version into .tools/bin."
  CARGO_PROFILE_DEV_DEBUG=false cargo install --quiet --locked --debug --root .tools --target-dir target/tools --version "$version" "$name" >&2
}

check_tools() {
  if prebuilt_tools; then return 0; fi
  say "No prebuilt tools for this machine."
  cargo_tool cargo-shear
  cargo_tool cargo-deny
}

# A public server of the Model Context Protocol that the tests of the engine talk to; nothing of it is run while it is installed.
mcp_server_for_tests() {
  if cmp -s tests/mcp-server/package-lock.json tests/mcp-server/node_modules/.installed; then return 0; fi
  say "Installing a public MCP server for the tests into tests/mcp-server."
  npm --prefix tests/mcp-server ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  cp tests/mcp-server/package-lock.json tests/mcp-server/node_modules/.installed
}

browser_for_tests() {
  browser && return 0
  say "No Chromium was found: fetching the one that Playwright keeps, into .tools/browsers."
  npm --prefix ui ci --no-audit --no-fund --loglevel=error >&2
  PLAYWRIGHT_BROWSERS_PATH="$PWD/.tools/browsers" ui/node_modules/.bin/playwright-core install --with-deps chromium >&2 || {
    say "That did not work. Please install Chromium or Google Chrome, so that it can be started as chromium or google-chrome."
    exit 1
  }
}

system_packages
rust
page_tools
if [ "$for_tests" = yes ]; then
  check_tools
  mcp_server_for_tests
  browser_for_tests
fi
