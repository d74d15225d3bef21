// How many instructions a second does one host thread interpret on one hot tile? A bundle counts as
// two.

#include <fmt/format.h>

#include "bench/program.h"

namespace superstep {
namespace {

/// A supervisor that launches `worker` on every worker, `launches` times. Vertex state is at
/// 0x80000, in the interleaved region, and zero like everything behind it.
ProgramImage one_tile(const std::string& worker, std::uint32_t launches) {
  ProgramImage image;
  image.machine = load_machine("tiny4");
  const std::string text =
      launches_of_worker(0x80000, launches) + ".align 8\nworker:\n" + worker + "  exitz $m15\n";
  add_code(image, {TileId{0}}, assembled(text, image.machine));
  return image;
}

void run_worker(benchmark::State& state, const std::string& worker, std::uint32_t launches = 100) {
  const RunTotals totals = run_all(state, one_tile(worker, launches));
  set_rate(state, "instructions", static_cast<double>(totals.worker_instructions));
}

/// Solo integer instructions and a branch.
void integer_loop(benchmark::State& state) {
  run_worker(state,
             "  setzi $m0, 4000\n"
             "  setzi $m1, 12345\n"
             "again:\n"
             "  shl $m2, $m1, 5\n"
             "  xor $m1, $m1, $m2\n"
             "  shr $m2, $m1, 7\n"
             "  xor $m1, $m1, $m2\n"
             "  add $m3, $m3, $m1\n"
             "  brnzdec $m0, again\n");
}
BENCHMARK(integer_loop)->Unit(benchmark::kMillisecond);

/// Multiply and add of pairs of f32 in a branching loop: two bundles and a branch for each.
void float_loop(benchmark::State& state) {
  run_worker(state,
             "  setzi $m0, 4000\n"
             "  mov $m2, $m13\n"
             "again:\n"
             "  { ld64 $a0:1, $m2, $m15, 0; f32v2mul $a2:3, $a0:1, $a4:5 }\n"
             "  { nop; f32v2add $a4:5, $a2:3, $a4:5 }\n"
             "  brnzdec $m0, again\n");
}
BENCHMARK(float_loop)->Unit(benchmark::kMillisecond);

/// The inner loop of a fill: one store and one aux instruction for each repetition.
void repeat_fill(benchmark::State& state) {
  run_worker(state,
             "  mov $m2, $m13\n"
             "  rpt 4000, 0\n"
             "  { st64step $a14:15, $m15, $m2+=, 1; fnop }\n");
}
BENCHMARK(repeat_fill)->Unit(benchmark::kMillisecond);

/// A dot product of f32 pairs: loads beside multiply-accumulates.
void repeat_dot(benchmark::State& state) {
  run_worker(state,
             "  nop\n"
             "  mov $m2, $m13\n"
             "  mov $m3, $m13\n"
             "  rpt 2000, 1\n"
             "  { ld64step $a0:1, $m15, $m2+=, 1; f32v2mac $a2:3, $a4:5 }\n"
             "  { ld64step $a2:3, $m15, $m3+=, 1; f32v2mac $a0:1, $a4:5 }\n");
}
BENCHMARK(repeat_dot)->Unit(benchmark::kMillisecond);

/// x += a y: both are loaded, multiplied and added to, and the sum before is stored.
void repeat_axpy(benchmark::State& state) {
  run_worker(state,
             "  mov $m2, $m13\n"
             "  add $m3, $m13, 0x4000\n"
             "  mov $m4, $m13\n"
             "  rpt 1000, 2\n"
             "  { ld64step $a0:1, $m15, $m2+=, 1; f32v2mul $a4:5, $a0:1, $a6:7 }\n"
             "  { ld64step $a2:3, $m15, $m3+=, 1; f32v2add $a8:9, $a4:5, $a2:3 }\n"
             "  { st64step $a8:9, $m15, $m4+=, 1; fnop }\n");
}
BENCHMARK(repeat_axpy)->Unit(benchmark::kMillisecond);

/// Compare and exchange along a list of words, as sorts do: loads, minimum and maximum, stores.
void sort_step(benchmark::State& state) {
  run_worker(state,
             "  setzi $m0, 2000\n"
             "  mov $m2, $m13\n"
             "  ld32 $m3, $m13, $m15, 0\n"
             "again:\n"
             "  ld32 $m4, $m2, $m15, 1\n"
             "  cmpslt $m5, $m4, $m3\n"
             "  brz $m5, in_order\n"
             "  mov $m6, $m3\n"
             "  mov $m3, $m4\n"
             "  mov $m4, $m6\n"
             "in_order:\n"
             "  st32step $m3, $m15, $m2+=, 1\n"
             "  mov $m3, $m4\n"
             "  brnzdec $m0, again\n");
}
BENCHMARK(sort_step)->Unit(benchmark::kMillisecond);

/// A matrix product on the AMP: four phases, each beside a load.
void repeat_amp(benchmark::State& state, const std::string& mnemonic, const std::string& input) {
  std::string body = "  mov $m2, $m13\n  rpt 1000, 3\n";
  for (int phase = 0; phase < 4; ++phase) {
    body += fmt::format("  {{ ld64step $a0:1, $m15, $m2+=, 1; {} $a4:5, {}, $a6:7, {} }}\n",
                        mnemonic, input, phase);
  }
  run_worker(state, body);
}
BENCHMARK_CAPTURE(repeat_amp, f32, "f32sisov2amp", "$a2")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(repeat_amp, f16, "f16v4sisoamp", "$a2:3")->Unit(benchmark::kMillisecond);

/// A worker of a few instructions: what a launch costs.
void short_worker(benchmark::State& state) {
  run_worker(state,
             "  ld32 $m0, $m13, $m15, 0\n"
             "  add $m0, $m0, 1\n"
             "  ld32 $m1, $m13, $m15, 1\n"
             "  add $m0, $m0, $m1\n",
             10000);
}
BENCHMARK(short_worker)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace superstep
