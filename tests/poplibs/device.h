#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "isa/machine_config.h"
#include "tools/codelet_run.h"
#include "tests/gc200.h"
#include "tests/poplibs/case.h"
#include "toolchain/linker.h"

namespace superstep::poplibs {

/// Every assembly codelet of a checkout, assembled.
class Codelets {
 public:
  explicit Codelets(const std::filesystem::path& checkout);

  /// Entry symbols, sorted.
  [[nodiscard]] std::vector<std::string> entries() const;
  [[nodiscard]] bool has(const std::string& symbol) const { return places_.contains(symbol); }
  /// Whether the entry points of its class are supervisor code; a file may switch modes only after
  /// its first label.
  [[nodiscard]] bool is_supervisor(const std::string& symbol) const;
  /// Code of one entry point, and of others, in tile memory; throws what the linker says.
  [[nodiscard]] LinkedCode link_entry(const std::string& symbol,
                                      const std::vector<std::string>& others = {}) const;
  /// What did not assemble.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

 private:
  MachineConfig machine_ = gc200();
  std::vector<LinkInput> inputs_;
  std::map<std::string, std::size_t> places_;  ///< symbol to input
  std::set<std::string> supervisor_classes_;
  std::vector<std::string> problems_;
};

/// Those of the checkout, which there must be, assembled once.
const Codelets& checkout_codelets();

/// What a run on the simulated tile left behind.
struct DeviceResult {
  std::string fault;  ///< empty when it ended
  CodeletCost cost;
  /// Rows of the fields as they are after the run.
  std::vector<std::vector<std::vector<std::uint8_t>>> rows;
  std::vector<std::uint8_t> after;  ///< the state block of the call after it
};

/// How the workers of a multivertex run.
enum class Engine : std::uint8_t {
  kInTurn,      ///< one instruction each
  kProduction,  ///< as in programs: each to its end, wherever the supervisor cannot tell
  kChecked,     ///< the same, and workers that share a word without order are a fault
};

/// Runs a placed case; the observer, if any, sees each instruction.
DeviceResult run_on_tile(const Case& run, const LinkedCode& code, CodeletKind kind,
                         Engine engine = Engine::kInTurn, InstructionObserver* observer = nullptr);

}  // namespace superstep::poplibs
