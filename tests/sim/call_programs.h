#pragma once

#include <string>

#include "tests/sim/programs.h"

namespace superstep {

inline const std::string kVisit =
    "  delayxpic 0, 0, 0x600\n"
    "  send 1, 0x20000, 3\n";

/// result0 = arg0 + 1, a pair of i32 at kData of tile 0, again and again while the word behind the
/// pair is not 0.
inline ProgramImage increments() {
  ProgramImage image = image_of(1);
  const TensorType pair{DType::kI32, {2}};
  const TensorType flag{DType::kI32, {}};
  const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8, {{0, 0, 8}}}};
  image.streams = {{Stream::Kind::kArgument, 0, pair, pieces},
                   {Stream::Kind::kResult, 0, pair, pieces},
                   {Stream::Kind::kGoesOn, 0, flag, {{TileId{0}, kData + 8, 4, {{0, 0, 4}}}}}};
  image.arguments = image.results = {pair};
  image.alias = {std::nullopt};
  image.first.arguments = {0, 2};
  image.next = {{1}, {0, 2}};
  image.last.results = {1};
  image.segments.push_back({{TileId{0}}, kData + 8, {1, 0, 0, 0}});
  add_program(image, 0,
              "  setzi $m1, " + std::to_string(kData) +
                  "\n"
                  "  sync 4\n"
                  "  delayxpic 0, 0, 0x600\n"
                  "  delay 9\n"
                  "  sync 4\n"
                  "again:\n"
                  "  ld32 $m2, $m15, $m1, 0\n"
                  "  ld32 $m3, $m15, $m1, 1\n"
                  "  add $m2, $m2, 1\n"
                  "  add $m3, $m3, 1\n"
                  "  st32 $m2, $m15, $m1, 0\n"
                  "  st32 $m3, $m15, $m1, 1\n"
                  "  sync 3\n"
                  "  ld32 $m4, $m15, $m1, 2\n"
                  "  sync 4\n" +
                  kVisit +
                  "  sync 4\n"
                  "  brnz $m4, again\n"
                  "  sync 4\n");
  return image;
}

inline HostTensor pair_of(std::int32_t a, std::int32_t b) {
  HostTensor tensor(TensorType{DType::kI32, {2}});
  tensor.set(0, a);
  tensor.set(1, b);
  return tensor;
}

/// Takes three pairs from infeed 0 in a loop, and gives each to outfeed 0.
inline ProgramImage feeds() {
  ProgramImage image = image_of(1);
  const TensorType pair{DType::kI32, {2}};
  const std::vector<StreamPiece> pieces = {{TileId{0}, kData, 8, {{0, 0, 8}}}};
  image.streams = {{Stream::Kind::kInfeed, 0, pair, pieces},
                   {Stream::Kind::kOutfeed, 0, pair, pieces}};
  image.visits = {{kCode + 4, {{}, {0}}}, {kCode + 20, {{1}, {}}}};
  add_program(image, 0,
              "  setzi $m1, 2\n"
              "again:\n"
              "  sync 4\n"
              "  delayxpic 0, 0, 0x600\n"
              "  delay 9\n"
              "  sync 4\n"
              "  sync 4\n" +
                  kVisit +
                  "  sync 4\n"
                  "  brnzdec $m1, again\n"
                  "  sync 4\n");
  return image;
}

}  // namespace superstep
