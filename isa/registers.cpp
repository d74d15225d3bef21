#include "isa/registers.h"

#include <map>
#include <string>

#include "isa/control_registers.h"

namespace superstep::isa {

namespace {

std::map<std::string, std::uint32_t, std::less<>> build_constants() {
  std::map<std::string, std::uint32_t, std::less<>> names = {{"TEXCH_SYNCZONE_LOCAL", 2}};
  for (const ControlRegister& known : control_registers()) {
    // `uget` and `uput` add the rest themselves.
    names[std::string(known.name)] = known.number % kUpperCsrs;
  }
  for (std::uint32_t channel = 0; channel < 16; ++channel) {
    for (std::uint32_t slice = 0; slice < 4; ++slice) {
      names["CWEI_" + std::to_string(channel) + "_" + std::to_string(slice)] = 4 * channel + slice;
    }
  }
  // The numbers of AMP phases are not public: our own.
  for (std::uint32_t phase = 0; phase < 8; ++phase) {
    names["TAMP_F32_E4_P" + std::to_string(phase)] = phase;
    if (phase < 4) names["TAMP_F16V4_E4_P" + std::to_string(phase)] = phase;
  }
  // Fewer engines: told apart from four by bits 4 and 5 (docs/isa-gaps.md).
  for (std::uint32_t phase = 0; phase < 4; ++phase) {
    const std::string suffix = "_P" + std::to_string(phase);
    names["TAMP_F32_E2" + suffix] = 16 + phase;
    names["TAMP_F32_E1" + suffix] = 32 + phase;
    if (phase < 2) names["TAMP_F16V4_E2" + suffix] = 16 + phase;
    if (phase < 1) names["TAMP_F16V4_E1" + suffix] = 32 + phase;
  }
  // So are those of permutations through the accumulators and of slim convolutions.
  for (std::uint32_t phase = 0; phase < 2; ++phase) {
    names["TSTACC_P" + std::to_string(phase)] = phase;
    names["TISTACC_P" + std::to_string(phase)] = phase;
  }
  for (std::uint32_t slice = 0; slice < 4; ++slice) {
    const std::string suffix = "_W" + std::to_string(slice);
    names["TSLIC_F16V4_1x4" + suffix] = slice;
    names["TSLIC_F16V4_1x3" + suffix] = slice | kSlic1x3;
    for (std::uint32_t input = 0; input < 2; ++input) {
      const std::uint32_t flags = slice | (input == 0 ? 0 : kSlicSecondInput);
      const std::string phase = suffix + "_P" + std::to_string(input);
      names["TSLIC_F32_1x4" + phase] = flags;
      names["TSLIC_F32_1x3" + phase] = flags | kSlic1x3;
    }
  }
  return names;
}

}  // namespace

std::optional<std::uint32_t> constant_of(std::string_view name) {
  static const std::map<std::string, std::uint32_t, std::less<>> names = build_constants();
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

}  // namespace superstep::isa
