#include "tests/gc200.h"
#include "tests/poplibs/device.h"

#include <span>

#include "base/error.h"
#include "tests/poplibs/checkout.h"
#include "toolchain/assembler/object_assembler.h"
#include "toolchain/assembler/preprocess.h"

namespace superstep::poplibs {
namespace {

constexpr std::uint32_t kCode = 0x4d000;
constexpr std::uint32_t kCodeLimit = 0x70000;

/// The symbol without template arguments.
std::string class_of(const std::string& symbol) { return symbol.substr(0, symbol.find("___")); }

}  // namespace

Codelets::Codelets(const std::filesystem::path& checkout) {
  std::vector<std::filesystem::path> files = poplibs_assembly(checkout);
  files.emplace_back(SUPERSTEP_SOURCE_DIR "/tests/poplibs/runtime.S");
  for (const std::filesystem::path& file : files) {
    try {
      AssembledObject assembled = assemble_object(
          preprocess(file.string(), {poplibs_include_folders(checkout, file), {}}), file.string());
      for (const Object::Symbol& symbol : assembled.object.symbols) {
        const bool is_entry = symbol.is_defined && symbol.is_global &&
                              symbol.name.starts_with("__runCodelet_") &&
                              !symbol.name.ends_with("_START");
        if (is_entry) {
          places_[symbol.name] = inputs_.size();
          if (symbol.mode == Object::Mode::kSupervisor) {
            supervisor_classes_.insert(class_of(symbol.name));
          }
        }
      }
      inputs_.push_back({file.filename().string(), std::move(assembled.object)});
    } catch (const UserError& error) {
      problems_.push_back(file.filename().string() + ": " + error.problems()[0].message);
    }
  }
}

std::vector<std::string> Codelets::entries() const {
  std::vector<std::string> names;
  for (const auto& [name, input] : places_) names.push_back(name);
  return names;
}

bool Codelets::is_supervisor(const std::string& symbol) const {
  return supervisor_classes_.contains(class_of(symbol));
}

LinkedCode Codelets::link_entry(const std::string& symbol,
                                const std::vector<std::string>& others) const {
  std::vector<std::string> entries = {symbol};
  entries.insert(entries.end(), others.begin(), others.end());
  // Their own files, or all of them when those refer to others.
  try {
    std::set<std::size_t> places;
    for (const std::string& entry : entries) places.insert(places_.at(entry));
    std::vector<LinkInput> own;
    for (const std::size_t place : places) own.push_back(inputs_[place]);
    return link(own, entries, machine_, kCode, kCodeLimit);
  } catch (const UserError&) {
    return link(inputs_, entries, machine_, kCode, kCodeLimit);
  }
}

const Codelets& checkout_codelets() {
  static const Codelets all(*poplibs_checkout());
  return all;
}

DeviceResult run_on_tile(const Case& run, const LinkedCode& code, CodeletKind kind, Engine engine,
                         InstructionObserver* observer) {
  DeviceResult result;
  // Workers that wait for one another wait for ever when each runs to its end.
  constexpr std::size_t kMostPolls = 1000;
  std::size_t polls = 0;
  CodeletRun tile(
      gc200(), {.take_turns = engine == Engine::kInTurn,
                .check_races = engine == Engine::kChecked ? RaceChecks::kFirst : RaceChecks::kNever,
                .interrupted = [&] { return ++polls > kMostPolls; }});
  tile.load(code);
  for (const Block& block : run.blocks()) {
    if (!tile.write(block.address, std::as_bytes(std::span(block.bytes)))) {
      result.fault = "the case lies outside of the tile";
      return result;
    }
  }
  if (run.before) {
    tile.call(CodeletKind::kMultiVertex, code.find(run.before->symbol)->address, Case::kBefore);
  }
  if (!tile.fault()) {
    tile.observe(observer);
    result.cost = tile.call(kind, code.find(run.entry().symbol)->address, run.state_address());
    tile.observe(nullptr);
  }
  if (!tile.fault() && run.after) {
    tile.call(CodeletKind::kMultiVertex, code.find(run.after->symbol)->address, Case::kAfter);
    result.after = run.after->state;
    (void)tile.read(Case::kAfter, std::as_writable_bytes(std::span(result.after)));
  }
  if (tile.fault()) {
    result.fault = tile.fault()->context + " at " + code.place_of(tile.fault()->pc) + ": " +
                   tile.fault()->cause;
    return result;
  }
  for (const FieldState& state : run.states()) {
    std::vector<std::vector<std::uint8_t>>& rows = result.rows.emplace_back();
    for (const Row& row : state.rows) {
      std::vector<std::uint8_t>& bytes = rows.emplace_back(row.bytes);
      if (row.address != 0 && state.device_bytes == 0) {
        (void)tile.read(row.address, std::as_writable_bytes(std::span(bytes)));
      }
    }
  }
  return result;
}

}  // namespace superstep::poplibs
