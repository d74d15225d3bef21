#include <algorithm>
#include <numeric>

#include "base/format_version.h"
#include "base/sha256.h"
#include "base/text.h"
#include "report/validation/checks.h"
#include "sim/trace/progress.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

using Kind = StepInfo::Kind;

constexpr std::uint64_t kWordBytes = 4;
/// From this format on, words that only a loop or a branch needs live in its step.
constexpr unsigned kLivesOfControl = 11;

void check_enumeration(const TraceFile& trace, const TraceColumn& column, std::uint64_t rows,
                       TraceFindings& findings) {
  TraceRule& rule = findings.rule(column.path);
  const auto values = read_numbers<std::uint8_t>(trace.hdf5(), column.path, 0, rows);
  for (std::uint64_t i = 0; i < rows; ++i) {
    rule.below(i, values[i], column.names.size(), "values");
  }
}

template <class T>
void check_numbers(const TraceFile& trace, const TraceColumn& column, std::uint64_t rows,
                   TraceFindings& findings) {
  TraceRule& rule = findings.rule(column.path);
  const auto numbers = read_numbers<T>(trace.hdf5(), column.path, 0, rows);
  for (std::uint64_t i = 0; i < rows; ++i) rule.equal(i, numbers[i], i, "the row is");
}

void check_texts(const TraceFile& trace, const TraceColumn& column, TraceFindings& findings) {
  TraceRule& rule = findings.rule(column.path);
  const std::vector<std::string> texts = trace.read_text(column.path);
  for (std::uint64_t i = 0; i < texts.size(); ++i) {
    rule.check(!not_utf8(texts[i]), i, [&] { return fmt::format("is no UTF-8: {}", texts[i]); });
  }
}

/// What the checks of the program share.
struct ProgramTables {
  const TraceFile& trace;
  const SoundColumns& sound;
  TraceFindings& findings;
  std::uint32_t tiles;
  unsigned minor;  ///< of its format 1.x
  std::vector<StepRow> steps = {};

  template <class... Tables>
  [[nodiscard]] bool has(const Tables&... tables) const {
    return sound.has_all(trace.hdf5(), tables...);
  }
};

void check_steps(ProgramTables& program) {
  TraceFindings& findings = program.findings;
  if (!program.has(kSteps, kFusedOperations)) return;
  program.steps = read_steps(program.trace.hdf5());
  const std::vector<StepRow>& steps = program.steps;
  findings.expect(!steps.empty(), [] { return std::string("/program/step has no rows"); });
  TraceRule& parents = findings.rule(kSteps.path_of("parent"));
  TraceRule& operations = findings.rule(kSteps.path_of("operation"));
  TraceRule& estimates = findings.rule(kSteps.path_of("estimated_cycles"));
  const std::size_t known =
      program.has(kOperations) ? program.trace.read(kOperations).size() : SIZE_MAX;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    operations.below(s, steps[s].operation_number, known, "operations");
    estimates.check(steps[s].is(Kind::kExchange) || steps[s].estimated_cycles == 0, s, [&] {
      return fmt::format("is {}, of a step that is no exchange", steps[s].estimated_cycles);
    });
    if (!steps[s].parent) continue;
    const std::uint32_t parent = *steps[s].parent;
    parents.below(s, parent, s, "steps before it");
    if (parent >= s) continue;
    const bool fits = steps[s].is(Kind::kArm)
                          ? steps[parent].is(Kind::kBranch)
                          : steps[parent].is(Kind::kLoop) || steps[parent].is(Kind::kArm);
    parents.check(fits, s, [&] {
      return fmt::format("is {}, a step of kind {}, which does not execute others of kind {}",
                         parent, steps[parent].kind_number, steps[s].kind_number);
    });
  }
}

/// Useful operations of a call: of operations and of their steps.
void check_flops(ProgramTables& program) {
  if (program.steps.empty() || !program.has(kOperations)) return;
  const std::vector<OperationRow> operations = program.trace.read(kOperations);
  const std::vector<StepInfo> steps(program.steps.begin(), program.steps.end());
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    // Which is said.
    if (steps[s].parent.value_or(0) > s || program.steps[s].operation_number >= operations.size())
      return;
  }
  const std::vector<std::uint64_t> executions = executions_by_step(steps);
  std::vector<std::uint64_t> sums(operations.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    sums[program.steps[s].operation_number] += executions[s] * steps[s].flops;
  }
  TraceRule& flops = program.findings.rule(kOperations.path_of("flops"));
  for (std::size_t o = 0; o < sums.size(); ++o) {
    flops.equal(o, operations[o].flops, sums[o], "its steps sum to");
  }
}

/// Operations that share a step: an exchange by what it writes for them.
void check_shares(ProgramTables& program) {
  if (!program.has(kFusedOperations, kOperations)) return;
  TraceFindings& findings = program.findings;
  TraceRule& of_steps = findings.rule(kFusedOperations.path_of("step"));
  TraceRule& of_operations = findings.rule(kFusedOperations.path_of("operation"));
  TraceRule& bytes = findings.rule(kSteps.path_of("exchange_bytes"));
  const std::uint64_t operations = program.trace.read(kOperations).size();
  const std::vector<FusedOperationRow> rows = program.trace.read(kFusedOperations);
  const bool has_operations =
      program.sound.has(kFusedOperations.path_of("operation"));  // from format 1.11 on
  std::vector<std::uint64_t> words(program.steps.size());
  for (std::uint64_t r = 0; r < rows.size(); ++r) {
    const std::uint32_t s = rows[r].step;
    of_steps.below(r, s, program.steps.size(), "steps");
    of_steps.check(r == 0 || s >= rows[r - 1].step, r,
                   [&] { return fmt::format("is {}, below {} before it", s, rows[r - 1].step); });
    if (s >= program.steps.size()) continue;
    words[s] += rows[r].cycles_alone;
    if (!has_operations) continue;
    of_operations.below(r, rows[r].operation_number, operations, "operations");
    if (program.steps[s].is(Kind::kCompute)) {
      of_operations.equal(r, rows[r].operation_number, program.steps[s].operation_number,
                          "that of its step is");
    }
  }
  for (std::uint64_t s = 0; s < words.size(); ++s) {
    if (words[s] == 0 || !program.steps[s].is(Kind::kExchange)) continue;
    bytes.equal(s, program.steps[s].exchange_bytes, kWordBytes * words[s],
                "the words of /program/fused make");
  }
}

void check_program_tables(ProgramTables& program) {
  TraceFindings& findings = program.findings;
  if (program.has(kComputeSets, kVertexTypes)) {
    TraceRule& types = findings.rule(kComputeSets.path_of("vertex_type"));
    const std::uint64_t known = program.trace.read(kVertexTypes).size();
    const std::uint64_t sets = program.trace.read(kComputeSets).size();
    const auto of_sets = read_numbers<std::uint32_t>(program.trace.hdf5(),
                                                     kComputeSets.path_of("vertex_type"), 0, sets);
    for (std::uint64_t i = 0; i < sets; ++i) {
      // 0 too where there are none.
      types.below(i, of_sets[i], std::max<std::uint64_t>(known, 1), "vertex types");
    }
  }
  if (program.has(kVariables) && !program.steps.empty()) {
    TraceRule& first = findings.rule(kVariables.path_of("first_step"));
    TraceRule& last = findings.rule(kVariables.path_of("last_step"));
    const std::vector<VariableRow> variables = program.trace.read(kVariables);
    for (std::uint64_t v = 0; v < variables.size(); ++v) {
      first.below(v, variables[v].first_step, program.steps.size(), "steps");
      last.below(v, variables[v].last_step, program.steps.size(), "steps");
      // The host's step, 0, comes behind all others.
      last.check(is_live_in(variables[v], variables[v].first_step), v, [&] {
        return fmt::format("is {}, before its first step {}", variables[v].last_step,
                           variables[v].first_step);
      });
    }
  }
  if (program.has(kUsedTiles)) {
    TraceRule& tiles = findings.rule(kUsedTiles.path_of("used_tile"));
    const std::vector<TileEntry> used = program.trace.read(kUsedTiles);
    for (std::uint64_t i = 0; i < used.size(); ++i) {
      const std::uint32_t tile = index(used[i].tile);
      tiles.below(i, tile, program.tiles, "tiles");
      if (i == 0) continue;
      tiles.check(tile > index(used[i - 1].tile), i, [&] {
        return fmt::format("is {}, not above {}", tile, index(used[i - 1].tile));
      });
    }
  }
}

/// Tensors against the memory that is in use while each step runs.
void check_live_variables(ProgramTables& program, const std::vector<StepMemory>& by_step) {
  if (by_step.size() != program.steps.size()) return;
  TraceRule& always = program.findings.rule(kLiveness.path_of("always_live_bytes"));
  TraceRule& others = program.findings.rule(kLiveness.path_of("not_always_live_bytes"));
  std::uint64_t of_all_steps = 0;
  std::vector<std::uint64_t> begin(by_step.size() + 1), end(by_step.size() + 1);
  const auto last = static_cast<std::uint32_t>(by_step.size());
  const auto place = [&](std::uint32_t step) {  // the host's, 0, comes behind all others
    return step == 0 ? last : std::min(step, last);
  };
  for (const VariableRow& variable : program.trace.read(kVariables)) {
    if (variable.is_always_live) {
      of_all_steps += variable.bytes;
    } else {
      begin[place(variable.first_step)] += variable.bytes;
      end[place(variable.last_step)] += variable.bytes;
    }
  }
  std::uint64_t live = 0;
  for (std::uint32_t p = 1; p <= last; ++p) {
    const std::uint32_t s = p % last;
    live += begin[p];
    always.check(of_all_steps <= by_step[s].always_live_bytes, s, [&] {
      return fmt::format("is {}, but tensors that are always live take {}",
                         by_step[s].always_live_bytes, of_all_steps);
    });
    // What control needs alone was of the steps that it executes, before format 1.11; between steps
    // is as the host.
    const bool is_known =
        s + 1 != last && (!program.steps[s].executes_others() || program.minor >= kLivesOfControl);
    if (is_known) {
      others.equal(s, by_step[s].not_always_live_bytes, live, "the tensors that are live take");
    }
    live -= end[p];
  }
}

/// Tiles against steps: the most that each has in use, and the fullest while each step runs.
void check_peaks(ProgramTables& program, const std::vector<StepMemory>& by_step) {
  TraceRule& of_tiles = program.findings.rule(kTilePeaks.path_of("max_live_bytes"));
  TraceRule& of_steps = program.findings.rule(kLiveness.path_of("peak_tile_bytes"));
  const std::vector<TilePeak> peaks = program.trace.read(kTilePeaks);
  for (std::uint64_t t = 0; t < peaks.size(); ++t) {
    if (peaks[t].step >= by_step.size()) continue;
    of_tiles.at_most(t, peaks[t].bytes, by_step[peaks[t].step].peak_tile_bytes,
                     "the fullest tile in its at_step,");
  }
  for (std::uint64_t s = 0; s < by_step.size(); ++s) {
    if (by_step[s].peak_tile >= peaks.size() || s >= program.steps.size()) continue;
    if (program.steps[s].executes_others()) continue;
    of_steps.at_most(s, by_step[s].peak_tile_bytes, peaks[by_step[s].peak_tile].bytes,
                     "the most that its peak_tile ever has in use,");
  }
}

void check_memory(ProgramTables& program) {
  TraceFindings& findings = program.findings;
  if (program.has(kLiveness) && !program.steps.empty()) {
    TraceRule& peaks = findings.rule(kLiveness.path_of("peak_tile"));
    const std::vector<StepMemory> by_step = program.trace.read(kLiveness);
    for (std::uint64_t s = 0; s < by_step.size(); ++s) {
      peaks.below(s, by_step[s].peak_tile, program.tiles, "tiles");
    }
    if (program.has(kVariables)) check_live_variables(program, by_step);
    if (program.has(kTilePeaks)) check_peaks(program, by_step);
  }
  if (!program.has(kTilePeaks, kMemoryBytes, kMemoryCategories)) return;
  TraceRule& steps = findings.rule(kTilePeaks.path_of("at_step"));
  TraceRule& most = findings.rule(kTilePeaks.path_of("max_live_bytes"));
  const std::vector<TilePeak> peaks = program.trace.read(kTilePeaks);
  const std::string path = kMemoryBytes.path_of("bytes");
  const auto bytes = program.trace.hdf5().read_all<std::uint32_t>(path, Hdf5Type::kU32);
  const std::size_t categories = peaks.empty() ? 0 : bytes.size() / peaks.size();
  for (std::uint64_t t = 0; t < peaks.size(); ++t) {
    steps.below(t, peaks[t].step, std::max<std::size_t>(program.steps.size(), 1), "steps");
    const auto of_tile = std::span(bytes).subspan(t * categories, categories);
    most.equal(t, peaks[t].bytes, std::accumulate(of_tile.begin(), of_tile.end(), std::uint64_t{0}),
               "the categories of the tile sum to");
  }
}

void check_exchanges(ProgramTables& program) {
  TraceFindings& findings = program.findings;
  if (!program.has(kExchanges, kMessages, kUsedTiles) || program.steps.empty()) return;
  const std::vector<ExchangeProgramRow> exchanges = program.trace.read(kExchanges);
  const std::vector<ExchangeMessage> messages = program.trace.read(kMessages);
  TraceRule& steps = findings.rule(kExchanges.path_of("step"));
  TraceRule& firsts = findings.rule(kExchanges.path_of("first_message"));
  TraceRule& counts = findings.rule(kExchanges.path_of("messages"));
  TraceRule& sources = findings.rule(kMessages.path_of("source_tile"));
  TraceRule& destinations = findings.rule(kMessages.path_of("destination_tile"));
  TraceRule& starts = findings.rule(kMessages.path_of("start_cycle"));
  TraceRule& cycles = findings.rule(kMessages.path_of("cycles"));
  TraceRule& bytes = findings.rule(kSteps.path_of("exchange_bytes"));
  const auto lengths = read_numbers<std::uint32_t>(program.trace.hdf5(),
                                                   kMessages.path_of("cycles"), 0, messages.size());
  std::uint64_t next = 0;
  for (std::uint64_t e = 0; e < exchanges.size(); ++e) {
    const ExchangeProgramRow& exchange = exchanges[e];
    firsts.equal(e, exchange.first_message, next, "those of the exchange before end with");
    const std::uint64_t left = messages.size() - std::min<std::uint64_t>(next, messages.size());
    counts.at_most(e, exchange.messages, left, "what is left of /exchange/message,");
    steps.below(e, exchange.step, program.steps.size(), "steps");
    const bool is_known = exchange.step < program.steps.size();
    if (is_known) {
      steps.check(program.steps[exchange.step].is(Kind::kExchange), e,
                  [&] { return fmt::format("is {}, which is no exchange", exchange.step); });
    }
    const std::uint64_t count = std::min(exchange.messages, left);
    std::uint64_t sum = 0;
    for (std::uint64_t m = next; m < next + count; ++m) {
      const ExchangeMessage& message = messages[m];
      sources.below(m, message.source_tile, program.tiles, "tiles");
      destinations.below(m, message.destination_tile, program.tiles, "tiles");
      if (m > next) {
        const std::uint32_t before = messages[m - 1].source_tile;
        sources.check(message.source_tile >= before, m, [&] {
          return fmt::format("is {}, below {} before it", message.source_tile, before);
        });
      }
      cycles.equal(m, lengths[m], message.bytes / kWordBytes, "its words are");
      sum += message.bytes;
      if (!is_known) continue;
      starts.at_most(m, std::uint64_t{message.start_cycle} + lengths[m],
                     program.steps[exchange.step].predicted_cycles,
                     "with its cycles, its exchange takes");
    }
    if (is_known && count != 0) {
      bytes.equal(exchange.step, program.steps[exchange.step].exchange_bytes, sum,
                  "its messages sum to");
    }
    next += count;
  }
  findings.expect(next == messages.size(), [&] {
    return fmt::format("/exchange/messages sums to {}, but /exchange/message has {} rows", next,
                       messages.size());
  });
}

}  // namespace

void check_values(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings) {
  for (const TraceColumn& column : trace_columns()) {
    if (!sound.has(column.path)) continue;
    const std::uint64_t rows = column.grows ? trace.rows_along(column.first_axis())
                                            : trace.hdf5().dims(column.path).front();
    try {
      if (!column.names.empty()) check_enumeration(trace, column, rows, findings);
      // Texts of events could be cut inside a character before format 1.11.
      if (column.type == Hdf5Type::kText && !column.grows) check_texts(trace, column, findings);
      if (!column.numbers_rows) continue;
      if (column.type == Hdf5Type::kU32)
        check_numbers<std::uint32_t>(trace, column, rows, findings);
      if (column.type == Hdf5Type::kU64)
        check_numbers<std::uint64_t>(trace, column, rows, findings);
    } catch (const std::exception& error) {
      findings.add_failure(column.path, error);
    }
  }
}

void check_program(const TraceFile& trace, const SoundColumns& sound, TraceFindings& findings) {
  const RootRow root = read_attributes(trace.hdf5(), kRootAttributes);
  ProgramTables program{trace, sound, findings, root.tiles, minor_of(root.format_version)};
  for (const auto check : {check_steps, check_flops, check_shares, check_program_tables,
                           check_memory, check_exchanges}) {
    try {
      check(program);
    } catch (const std::exception& error) {
      findings.add_failure("/program", error);
    }
  }
  if (!program.has(kMachineText)) return;
  const std::vector<std::string> texts = trace.read_text(kMachineText.path_of("config_toml"));
  findings.expect(texts.size() == 1 && sha256(texts[0]) == root.config_sha256, [] {
    return std::string("/provenance/config_toml is not what config_sha256 of / says");
  });
}

}  // namespace superstep
