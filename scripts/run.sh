#!/usr/bin/env bash
# Opens what was built on the folder given, else on a copy of the sample data: in a window when there is a display, else served on 127.0.0.1.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:---demo}
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec target/debug/touchstone "$folder"
fi
echo "There is no display here, so the same page is served. Open this address; Ctrl-C ends it." >&2
exec target/debug/touchstone serve "$folder"
