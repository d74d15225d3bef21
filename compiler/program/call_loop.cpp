#include "compiler/program/call_loop.h"

#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "compiler/program/blocks.h"

namespace superstep {

std::vector<TileId> participants_of(const LoweredProgram& program) {
  std::set<TileId> tiles;
  std::set<const Layout*> seen;
  for (const Buffer& buffer : program.buffers) {
    if (!seen.insert(buffer.layout.get()).second) continue;
    for (const Interval& interval : buffer.layout->intervals()) {
      tiles.insert(interval.tiles.begin(), interval.tiles.end());
    }
  }
  return {tiles.begin(), tiles.end()};
}

void add_call_loop(LoweredProgram& program) {
  const std::vector<TileId> participants = participants_of(program);
  if (participants.empty()) return;
  const BufferId goes_on{static_cast<std::uint32_t>(program.buffers.size())};
  const std::vector<std::byte> one{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}};
  program.buffers.push_back(
      {.kind = Buffer::Kind::kArgument,
       .name = "goes_on",
       .type = {DType::kU32, {}},
       .element_bytes = 4,
       .layout = std::make_shared<const Layout>(std::vector<Interval>{{0, 1, participants}}),
       .contents = one,
       .source = {}});
  program.goes_on = goes_on;
  Loop calls{.entry = {}, .condition = std::move(program.main), .test = {}, .body = {}, .step = {}};
  calls.test.decision = calls.test.input(goes_on, DType::kU32);
  calls.body.steps.emplace_back(HostVisit{HostVisit::Kind::kNext});
  program.main = {};
  program.main.steps.emplace_back(HostVisit{HostVisit::Kind::kFirst});
  program.main.steps.emplace_back(std::move(calls));
  program.main.steps.emplace_back(HostVisit{HostVisit::Kind::kLast});
}

const Block& call_of(const LoweredProgram& program) {
  return program.goes_on ? std::get<Loop>(program.main.steps[1]).condition : program.main;
}

std::optional<std::uint32_t> superstep_after_visit(const LoweredProgram& program) {
  if (!program.goes_on || call_of(program).steps.empty()) return std::nullopt;
  const auto* first = std::get_if<Superstep>(&call_of(program).steps[0]);
  if (first == nullptr || first->movements.empty()) return std::nullopt;
  std::uint32_t in_procedures = 0;
  for (const Procedure& procedure : program.procedures) {
    in_procedures += count_supersteps(procedure.block);
  }
  return in_procedures;
}

}  // namespace superstep
