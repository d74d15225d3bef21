#!/usr/bin/env bash
# Installs what is needed, builds, and trains the digits perceptron for one epoch on a simulated Bow: report, loss curve, trace, accuracy.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
mkdir -p build out
cmake --preset release >build/configure-release.log 2>&1 || { cat build/configure-release.log; exit 1; }
cmake --build --preset release --target superstep
superstep=build/release/superstep
digits=models/digits_mlp
echo "== One epoch of $digits on bow, compared with JAX"
$superstep run $digits/train_step.mlir -m bow --input $digits/train.h5 --repeat 44 \
  --expect $digits/expected.h5 --rtol 1e-4 --atol 1e-5 --output out/digits.h5 --trace tile -o out/digits_trace.h5
echo
echo "== Accuracy of the trained parameters on 360 test images"
$superstep run $digits/accuracy.mlir -m bow --input $digits/test.h5 --parameters out/digits.h5 \
  --expect $digits/expected_accuracy.h5 | sed -n 's/^result0.*\[\(.*\)\]/accuracy  \1/p; s/^Expected/JAX     /p'
