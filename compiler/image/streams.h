#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/image/storage.h"
#include "compiler/program/program.h"
#include "isa/program_image.h"

namespace superstep {

/// By result: the argument whose storage it takes.
[[nodiscard]] std::vector<std::optional<std::uint32_t>> alias_by_result(const Module& module);

/// Sets the streams of `image` and which of them each visit to the host moves. What is state goes
/// up before the first call and down after the last.
void add_streams(const Module& module, const LoweredProgram& program, const Storage& storage,
                 ProgramImage& image);

/// Appends the streams of visits inside a call to those that there are; what each moves, by
/// superstep.
std::map<std::uint32_t, HostPhase> add_feeds(const LoweredProgram& program, const Storage& storage,
                                             ProgramImage& image);

}  // namespace superstep
