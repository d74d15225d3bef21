#include <algorithm>
#include <numeric>

#include "base/sha256.h"
#include "report/validation/checks.h"
#include "sim/trace/table_file.h"

namespace superstep {
namespace {

// As `kStepKinds` has them.
constexpr std::uint8_t kExchangeKind = 1, kLoopKind = 4, kBranchKind = 5, kArmKind = 6;

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

/// What the checks of the program share.
struct ProgramTables {
  const TraceFile& trace;
  const SoundColumns& sound;
  TraceFindings& findings;
  std::uint32_t tiles;
  std::vector<StepRow> steps = {};

  template <class... Tables>
  [[nodiscard]] bool has(const Tables&... tables) const {
    return sound.has_all(trace.hdf5(), tables...);
  }
};

void check_steps(ProgramTables& program) {
  TraceFindings& findings = program.findings;
  if (!program.has(kSteps)) return;
  program.steps = program.trace.read(kSteps);
  const std::vector<StepRow>& steps = program.steps;
  findings.expect(!steps.empty(), [] { return std::string("/program/step has no rows"); });
  TraceRule& parents = findings.rule(kSteps.path_of("parent"));
  TraceRule& operations = findings.rule(kSteps.path_of("operation"));
  const std::size_t known =
      program.has(kOperations) ? program.trace.read(kOperations).size() : SIZE_MAX;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    operations.below(s, steps[s].operation_number, known, "operations");
    if (!steps[s].parent) continue;
    const std::uint32_t parent = *steps[s].parent;
    parents.below(s, parent, s, "steps before it");
    if (parent >= s) continue;
    const std::uint8_t kind = steps[parent].kind_number;
    const bool fits = steps[s].kind_number == kArmKind ? kind == kBranchKind
                                                       : kind == kLoopKind || kind == kArmKind;
    parents.check(fits, s, [&] {
      return fmt::format("is {}, a step of kind {}, which does not execute others of kind {}",
                         parent, kind, steps[s].kind_number);
    });
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
  if (program.has(kFusedOperations)) {
    TraceRule& of_steps = findings.rule(kFusedOperations.path_of("step"));
    const std::vector<FusedOperationRow> fused = program.trace.read(kFusedOperations);
    for (std::uint64_t f = 0; f < fused.size(); ++f) {
      of_steps.below(f, fused[f].step, program.steps.size(), "steps");
    }
  }
  if (program.has(kVariables) && !program.steps.empty()) {
    TraceRule& first = findings.rule(kVariables.path_of("first_step"));
    TraceRule& last = findings.rule(kVariables.path_of("last_step"));
    const std::vector<VariableRow> variables = program.trace.read(kVariables);
    for (std::uint64_t v = 0; v < variables.size(); ++v) {
      first.below(v, variables[v].first_step, program.steps.size(), "steps");
      last.below(v, variables[v].last_step, program.steps.size(), "steps");
      // The host's step, 0, also comes behind all others.
      last.check(variables[v].last_step == 0 || variables[v].last_step >= variables[v].first_step,
                 v, [&] {
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

void check_memory(ProgramTables& program) {
  TraceFindings& findings = program.findings;
  if (program.has(kLiveness) && !program.steps.empty()) {
    TraceRule& peaks = findings.rule(kLiveness.path_of("peak_tile"));
    const std::vector<StepMemory> by_step = program.trace.read(kLiveness);
    for (std::uint64_t s = 0; s < by_step.size(); ++s) {
      peaks.below(s, by_step[s].peak_tile, program.tiles, "tiles");
    }
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
      const std::uint8_t kind = program.steps[exchange.step].kind_number;
      steps.check(kind == kExchangeKind, e,
                  [&] { return fmt::format("is {}, which is no exchange", exchange.step); });
    }
    const std::uint64_t count = std::min(exchange.messages, left);
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
      cycles.equal(m, lengths[m], message.bytes / 4, "its words are");
      if (!is_known) continue;
      starts.at_most(m, std::uint64_t{message.start_cycle} + lengths[m],
                     program.steps[exchange.step].predicted_cycles,
                     "with its cycles, its exchange takes");
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
  ProgramTables program{trace, sound, findings, root.tiles};
  for (const auto check : {check_steps, check_program_tables, check_memory, check_exchanges}) {
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
