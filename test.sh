#!/usr/bin/env bash
# Installs what is needed, builds and runs all tests; words go to ctest. PRESET=asan or tsan chooses another build, TARGET=short_tests
# builds only the short suite (run it with -L short).
set -euo pipefail
cd "$(dirname "$0")"
preset=${PRESET:-release}
case $preset in
  asan | tsan | clang) ./setup.sh clang-14 libclang-rt-14-dev ;;
  *) ./setup.sh ;;
esac
[ "$preset" != release ] || tests/python/setup || echo "Tests that need build/python are skipped"
mkdir -p build
[ "$preset" != tsan ] || export TSAN_OPTIONS="ignore_noninstrumented_modules=1 suppressions=$PWD/.ci/tsan.supp ${TSAN_OPTIONS:-}"
cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || { cat "build/configure-$preset.log"; exit 1; }
cmake --build --preset "$preset" ${TARGET:+--target "$TARGET"}
[ -n "${STABLEHLO_TESTDATA:-}" ] || echo "STABLEHLO_TESTDATA is not set: tests on StableHLO's own data are skipped"
grep -h "PopLibs is not checked" "build/configure-$preset.log" | sed 's/^-- //' || true
ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
