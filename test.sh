#!/usr/bin/env bash
# Installs what is needed, builds and runs all tests; words go to ctest. PRESET=asan or tsan chooses another build, TARGET=short_tests
# builds only the short suite (run it with -L short).
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
preset=${PRESET:-release}
mkdir -p build
cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || { cat "build/configure-$preset.log"; exit 1; }
cmake --build --preset "$preset" ${TARGET:+--target "$TARGET"}
[ -n "${STABLEHLO_TESTDATA:-}" ] || echo "STABLEHLO_TESTDATA is not set: tests on StableHLO's own data are skipped"
ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
