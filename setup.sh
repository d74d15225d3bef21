#!/usr/bin/env bash
# Installs the Debian packages that the build needs, if any is missing. Works for root and with sudo.
set -euo pipefail
packages=(g++ cmake ninja-build pkg-config git libfmt-dev libtbb-dev libboost-dev libboost-program-options-dev
          libhdf5-dev libssl-dev libtomlplusplus-dev nlohmann-json3-dev libgtest-dev libmpfr-dev libbenchmark-dev protobuf-compiler "$@")
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null; then
  echo "This is no Debian: the build needs what these packages of Debian 12 hold: ${packages[*]}" >&2
  exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "Install these as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
