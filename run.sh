#!/usr/bin/env bash
# Installs what is needed, builds, and trains the digits perceptron for one epoch on a simulated Bow: report, loss curve and trace.
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh
mkdir -p build
cmake --preset release >build/configure-release.log 2>&1 || { cat build/configure-release.log; exit 1; }
cmake --build --preset release --target superstep
superstep=build/release/superstep
mkdir -p out
digits=models/digits_mlp
echo "Training: one epoch of $digits on bow"
$superstep run $digits/train_step.mlir -m bow --input $digits/train.h5 --repeat 44 \
  --expect $digits/expected.h5 --rtol 1e-4 --atol 1e-5 --output out/digits.h5 -o out/digits_trace.h5
echo
echo "Test accuracy with the trained parameters"
$superstep run $digits/accuracy.mlir -m bow --input $digits/test.h5 --parameters out/digits.h5 -o out/accuracy_trace.h5 | grep result0
