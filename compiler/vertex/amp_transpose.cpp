#include "compiler/vertex/amp_transpose.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

constexpr std::int64_t kBlockBytes = 512;
/// Strides reach 511 units of 8 bytes.
constexpr std::int64_t kMostGroups = 8;

/// One slot: numbers of an input for two columns are loaded, those of two inputs for one column are
/// stored. Inputs lie in $a0:1 to $a6:7 in turn, pairs for storing in $a8:9 (first column) and
/// $a10:11 (second).
std::string slot(int s, bool loads) {
  const int loaded = (s + 2) % 4 * 2, first = s / 2 % 2 * 4, second = first + 2;
  const bool is_low = s % 2 == 0;
  // What the slot before made: a second column's pair when this one makes a first column's.
  const int stored = is_low ? 10 : 8;
  const int to = is_low ? 8 : 10;
  // After a second column's pair the next inputs follow, or the next block.
  const int step = is_low ? 3 : 2;
  const char* strides = s == 0 ? "$m7" : "$m2";
  const std::string main =
      loads ? fmt::format("ldst64pace $a{}:{}, $a{}:{}, $m4:5+=, {}, {}", loaded, loaded + 1,
                          stored, stored + 1, strides, 1 + 4 * step)
            : fmt::format("st64pace $a{}:{}, $m4:5+=, {}, {}", stored, stored + 1, strides, step);
  return fmt::format("{{ {} ; {} $a{}:{}, $a{}:{}, $a{}:{} }}\n", main,
                     is_low ? "sort4x32lo" : "sort4x32hi", to, to + 1, first, first + 1, second,
                     second + 1);
}

}  // namespace

Codelet amp_transpose() {
  // The body of `rpt` must begin at a multiple of 8.
  std::string text = R"(
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
    ld64step $a0:1, $mzero, $m0+=, $m8
    ld64step $a2:3, $mzero, $m0+=, $m8
    { ld64step $a4:5, $mzero, $m0+=, $m8 ; sort4x32lo $a8:9, $a0:1, $a2:3 }
    tapack $m4:5, $m0, $mzero, $m6
    add $m3, $m3, -1
    rpt $m3, 7
)";
  for (int s = 1; s < 8; ++s) text += slot(s, true);
  text += slot(0, true);
  for (int s = 1; s < 8; ++s) text += slot(s, s < 6);
  text += "st64pace $a10:11, $m4:5+=, $m2, 0\nbrnzdec $m9, strip\ndone: exitz $mzero\n";
  return assembled("amp_transpose", text);
}

std::vector<std::uint32_t> amp_transpose_strides(std::int64_t pitch, std::int64_t groups) {
  SUPERSTEP_CHECK(pitch % 8 == 0 && pitch / 8 < 512, "a pitch beyond the strides");
  // Between the pairs of a channel and of its neighbour lie 32 bytes.
  const auto field = [](std::int64_t value, int shift) {
    return (static_cast<std::uint32_t>(value) & 0x3ffU) << shift;
  };
  const std::uint32_t common = field(pitch / 8, 0) | field(4, 10);
  const std::int64_t next = std::min(groups, kMostGroups) * kBlockBytes / 8 - 7;
  return {common | field(-3, 20), common | field(next, 20), static_cast<std::uint32_t>(pitch / 8)};
}

Strips amp_transpose_strips(std::int64_t workers, std::int64_t pitch, std::int64_t depth,
                            std::int64_t groups) {
  const std::int64_t blocks = depth / 8, pairs = groups * 8;
  return divide_into_strips(workers, blocks * pairs, [&](std::int64_t unit) {
    const std::int64_t pair = unit / blocks, block = unit % blocks;
    return Strip{block * 8 * pitch + pair * 8,
                 (block * groups + pair / 8) * kBlockBytes + pair % 8 * 64,
                 groups > kMostGroups ? 1 : blocks - block};
  });
}

Codelet AmpTranspose::code(const MachineConfig&) const { return amp_transpose(); }

VertexState AmpTranspose::State::words(std::int64_t workers) const {
  return strip_state(amp_transpose_strips(workers, pitch, depth, groups),
                     amp_transpose_strides(pitch, groups), from, to);
}

void AmpTranspose::interpret(const StateView& state) const {
  const std::int64_t pitch = state.number(3) * 8;
  const std::int64_t next = ((state.number(2) >> 20 & 0x3ff) + 7) * 8;
  for (std::int64_t s = 0; s < state.number(0); ++s) {
    const auto strip = 4 + 3 * static_cast<std::size_t>(s);
    for (std::int64_t b = 0; b < state.number(strip + 2); ++b) {
      for (std::int64_t k = 0; k < 8; ++k) {
        for (std::int64_t c = 0; c < 2; ++c) {
          const auto value =
              state.pointer(strip).plus((b * 8 + k) * pitch + c * 4).get<std::uint32_t>();
          state.pointer(strip + 1).plus(b * next + c * 32 + k * 4).write(&value, sizeof value);
        }
      }
    }
  }
}

std::int64_t amp_transpose_slots(std::int64_t strips, std::int64_t blocks) {
  return strips == 0 ? 3 : 8 + 10 * strips + 8 * blocks;
}

}  // namespace superstep::vertex
