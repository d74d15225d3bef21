#!/usr/bin/env bash
# Installs the Debian packages that the build needs, if any is missing. Works for root and with sudo.
set -euo pipefail
packages=(g++ cmake ninja-build pkg-config git libfmt-dev libtbb-dev libboost-dev libboost-program-options-dev
          libhdf5-dev libtomlplusplus-dev nlohmann-json3-dev libgtest-dev libmpfr-dev libbenchmark-dev "$@")
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
