#include "compiler/vertex/half_transpose.h"

#include <algorithm>

#include "base/error.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {

Codelet half_transpose() {
  // $a0:1 to $a6:7 hold four columns of one input each; the first two are loaded for the next
  // square as soon as this one no longer needs them. $a8:9 to $a12:13 hold four inputs of one
  // column each; the fourth column's are stored in the next turn. The body of `rpt` must begin at
  // a multiple of 8.
  const std::string before = R"(
    { ld64step $a4:5, $mzero, $m0+=, $m2 ; sort4x16lo $a8, $a0, $a2 }
    { ld64step $a6:7, $mzero, $m0+=, $m7 ; sort4x16hi $a10, $a0, $a2 }
)";
  const std::string after = R"(
    { st64step $a8:9, $mzero, $m6+=, $m8 ; sort4x16hi $a11, $a4, $a6 }
    { st64step $a10:11, $mzero, $m6+=, $m8 ; sort4x16lo $a8, $a1, $a3 }
    { ld64step $a0:1, $mzero, $m0+=, $m2 ; sort4x16hi $a12, $a1, $a3 }
    { ld64step $a2:3, $mzero, $m0+=, $m2 ; sort4x16lo $a9, $a5, $a7 }
    { st64step $a8:9, $mzero, $m6+=, $m8 ; sort4x16hi $a13, $a5, $a7 }
)";
  const std::string text = R"(
    ld32 $m9, $mvertex_base, $mzero, 0
    brz $m9, done
    ld32 $m2, $mvertex_base, $mzero, 1
    ld32 $m7, $mvertex_base, $mzero, 2
    ld32 $m8, $mvertex_base, $mzero, 3
    { setzi $m10, 16 ; fnop }
    add $m9, $m9, -1
    strip:
    ld32step $m0, $mvertex_base, $m10+=, 1
    ld32step $m6, $mvertex_base, $m10+=, 1
    ld32step $m3, $mvertex_base, $m10+=, 1
    ld64step $a0:1, $mzero, $m0+=, $m2
    ld64step $a2:3, $mzero, $m0+=, $m2
    add $m3, $m3, -1
)" + before + "sort4x16lo $a9, $a4, $a6\n" +
                           after + "rpt $m3, 7\n" + before +
                           "{ st64step $a12:13, $mzero, $m6+=, $m8 ; sort4x16lo $a9, $a4, $a6 }" +
                           after + R"(
    st64step $a12:13, $mzero, $m6+=, $m8
    brnzdec $m9, strip
    done: exitz $mzero
)";
  return assembled("half_transpose", text);
}

std::vector<std::uint32_t> half_transpose_strides(const HalfTransposition& of) {
  SUPERSTEP_CHECK(of.pitch % 8 == 0 && of.column_pitch % 8 == 0 && of.block_bytes % 8 == 0,
                  "64-bit accesses");
  return {static_cast<std::uint32_t>(of.pitch / 8),
          static_cast<std::uint32_t>(1 - 3 * of.pitch / 8),
          static_cast<std::uint32_t>(of.column_pitch / 8)};
}

Strips half_transpose_strips(std::int64_t workers, const HalfTransposition& of) {
  const std::int64_t across = of.columns / 4;
  return divide_into_strips(workers, of.inputs / 4 * across, [&](std::int64_t unit) {
    const std::int64_t input = unit / across * 4, column = unit % across * 4;
    return Strip{input * of.pitch + column * 2,
                 input / of.block_inputs * of.block_bytes + input % of.block_inputs * 2 +
                     column * of.column_pitch,
                 across - unit % across};
  });
}

Codelet HalfTranspose::code(const MachineConfig&) const { return half_transpose(); }

VertexState HalfTranspose::State::words(std::int64_t workers) const {
  return strip_state(half_transpose_strips(workers, of), half_transpose_strides(of), from, to);
}

void HalfTranspose::interpret(const StateView& state) const {
  const std::int64_t pitch = state.number(1) * 8, column_pitch = state.number(3) * 8;
  for (std::int64_t s = 0; s < state.number(0); ++s) {
    const auto strip = 4 + 3 * static_cast<std::size_t>(s);
    for (std::int64_t c = 0; c < 4 * state.number(strip + 2); ++c) {
      for (std::int64_t k = 0; k < 4; ++k) {
        const auto value = state.pointer(strip).plus(k * pitch + c * 2).get<std::uint16_t>();
        state.pointer(strip + 1).plus(c * column_pitch + k * 2).write(&value, sizeof value);
      }
    }
  }
}

std::int64_t half_transpose_slots(std::int64_t strips, std::int64_t squares) {
  return strips == 0 ? 3 : 8 + 9 * strips + 8 * squares;
}

}  // namespace superstep::vertex
