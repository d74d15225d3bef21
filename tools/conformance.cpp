#include "tools/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "compiler/compile.h"
#include "compiler/import/checked_module.h"
#include "compiler/ops/check_rule.h"
#include "compiler/ops/op.h"
#include "sim/run_image.h"

namespace superstep {
namespace {

namespace fs = std::filesystem;

/// What some values of a graph follow from.
struct Part {
  Module module;                      ///< its results are the values, each once
  std::vector<HostTensor> arguments;  ///< of the module
  std::vector<std::size_t> results;   ///< by value that was asked for
};

Part part_of(const Graph& graph, const std::vector<ValueId>& values,
             const std::vector<HostTensor>& arguments) {
  std::vector<bool> needed(graph.values().size());
  for (const ValueId value : values) needed[index(value)] = true;
  std::vector<const Op*> ops;
  for (auto op = graph.ops().rbegin(); op != graph.ops().rend(); ++op) {
    if (std::ranges::none_of(op->results, [&](ValueId v) { return needed[index(v)]; })) continue;
    for (const ValueId operand : op->operands) needed[index(operand)] = true;
    ops.push_back(&*op);
  }
  Part part;
  std::vector<ValueId> renamed(graph.values().size());
  for (std::size_t i = 0; i < graph.arguments().size(); ++i) {
    const ValueId argument = graph.arguments()[i];
    if (!needed[index(argument)]) continue;
    renamed[index(argument)] =
        part.module.main.add_argument(graph.type(argument), graph.value(argument).name);
    part.arguments.push_back(arguments[i]);
  }
  for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
    Op copy = **op;
    for (ValueId& operand : copy.operands) operand = renamed[index(operand)];
    copy.results.clear();
    const std::vector<ValueId> results = part.module.main.add_op(std::move(copy)).results;
    for (std::size_t i = 0; i < results.size(); ++i) {
      renamed[index((*op)->results[i])] = results[i];
    }
  }
  std::vector<ValueId> results;
  std::map<ValueId, std::size_t> places;
  for (const ValueId value : values) {
    const auto [at, is_new] = places.emplace(value, results.size());
    if (is_new) results.push_back(renamed[index(value)]);
    part.results.push_back(at->second);
  }
  part.module.main.set_results(std::move(results));
  part.module.argument_alias.resize(part.arguments.size());
  return part;
}

/// JAX's names of dtypes, as they are in those of its test data.
constexpr std::array<std::pair<std::string_view, std::string_view>, 25> kDtypes{{
    {"bool", "i1"},
    {"int4", "i4"},
    {"int8", "i8"},
    {"int16", "i16"},
    {"int32", "i32"},
    {"int64", "i64"},
    {"uint4", "ui4"},
    {"uint8", "ui8"},
    {"uint16", "ui16"},
    {"uint32", "ui32"},
    {"uint64", "ui64"},
    {"bfloat16", "bf16"},
    {"float16", "f16"},
    {"float32", "f32"},
    {"float64", "f64"},
    {"complex64", "complex<f32>"},
    {"complex128", "complex<f64>"},
    {"float4_e2m1fn", "f4E2M1FN"},
    {"float6_e2m3fn", "f6E2M3FN"},
    {"float6_e3m2fn", "f6E3M2FN"},
    {"float8_e4m3b11fnuz", "f8E4M3B11FNUZ"},
    {"float8_e4m3fn", "f8E4M3FN"},
    {"float8_e4m3fnuz", "f8E4M3FNUZ"},
    {"float8_e5m2", "f8E5M2"},
    {"float8_e5m2fnuz", "f8E5M2FNUZ"},
}};

/// Primitive and dtype as `scatter_add_bfloat16_1_50_3` names them.
void read_name(const std::string& stem, ConformanceOutcome& out) {
  out.primitive = stem;
  for (std::size_t at = stem.find('_'); at != std::string::npos; at = stem.find('_', at + 1)) {
    const std::string_view rest = std::string_view(stem).substr(at + 1);
    for (const auto& [name, dtype] : kDtypes) {
      if (!rest.starts_with(name) || name.size() < out.dtype.size()) continue;
      if (rest.size() > name.size() && rest[name.size()] != '_') continue;
      out.primitive = stem.substr(0, at);
      out.dtype = dtype;
    }
    if (!out.dtype.empty()) return;
    if (rest.empty() || rest.starts_with("shape")) {
      out.primitive = stem.substr(0, at);
      return;
    }
  }
}

fs::path normal(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

std::string disabled_of(const std::string& text) {
  constexpr std::string_view kMark = "RUN-DISABLED(";
  const std::size_t at = text.find(kMark);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kMark.size();
  return text.substr(begin, text.find(')', begin) - begin);
}

/// The first line of the first problem, without how often and where else it is.
std::string text_of(const UserError& error) {
  std::string text = error.problems().front().message;
  text.resize(std::min(text.find('\n'), text.size()));
  const std::size_t begin = text.find(" (and "), end = text.find(')', begin);
  if (begin != std::string::npos && end != std::string::npos) text.erase(begin, end + 1 - begin);
  return text;
}

struct OpsUnderTest {
  std::vector<const Op*> makers;          ///< of what is checked
  std::vector<const Op*> rearrangements;  ///< of what they make, or of arguments
};

OpsUnderTest ops_under_test(const Graph& graph) {
  OpsUnderTest ops;
  std::vector<ValueId> values = graph.results();
  while (!values.empty()) {
    const Op* op = graph.producer_of(values.back());
    values.pop_back();
    if (op == nullptr || lowering_as<ConstantLowering>(*op, graph) != nullptr) continue;
    if (lowering_as<RearrangeLowering>(*op, graph) == nullptr) {
      ops.makers.push_back(op);
      continue;
    }
    ops.rearrangements.push_back(op);
    values.insert(values.end(), op->operands.begin(), op->operands.end());
  }
  return ops;
}

/// Which ops tiles computed or exchanged something for.
class StepsThatRan {
 public:
  explicit StepsThatRan(const std::vector<StepInfo>& steps) : steps_(steps) {}

  void add(const SuperstepRecord& record) {
    add(record.exchange_step);
    for (const ComputeShare& share : record.shares) add(share.step);
  }
  [[nodiscard]] bool has(const Op& op) const {
    // Of an unrolled loop only what was in it is left.
    const bool has_part = std::ranges::any_of(op.regions, [&](const Graph& region) {
      return std::ranges::any_of(region.ops(), [&](const Op& part) { return has(part); });
    });
    return has_part || std::ranges::any_of(steps_, [&](const StepInfo& step) {
             if (!step.superstep || !supersteps_.contains(*step.superstep)) return false;
             const StepInfo* at = &step;
             while (at->source != op.location && at->parent) at = &steps_[*at->parent];
             return at->source == op.location;
           });
  }

 private:
  void add(std::uint32_t step) {
    // Code between steps has the number behind the last.
    if (step < steps_.size() && steps_[step].superstep) supersteps_.insert(*steps_[step].superstep);
  }

  const std::vector<StepInfo>& steps_;
  std::set<std::uint32_t> supersteps_;  ///< as steps number them
};

/// Whether the module ran to its end, a trap or the limit.
bool run(const CheckedModule& checked, const MachineConfig& machine,
         const ConformanceLimits& limits, ConformanceOutcome& out) {
  const Graph& graph = checked.module.main;
  std::vector<ValueId> found, expected;
  for (std::size_t i = 0; i < checked.checks.size(); ++i) {
    found.push_back(graph.results()[2 * i]);
    expected.push_back(graph.results()[2 * i + 1]);
  }
  if (out.dtype.empty()) out.dtype = name_of(graph.type(found[0]).dtype);
  const Part under_test = part_of(graph, found, checked.data);
  const ProgramImage image = compile(under_test.module, machine);
  StepsThatRan ran(image.info.steps);
  RunOptions options;
  options.max_supersteps = limits.max_supersteps;
  options.interrupted = limits.interrupted;
  options.on_superstep = [&](const SuperstepRecord& record) {
    if (record.worker_instructions.all == 0 && record.exchange_bytes == 0) return;
    ++out.device_steps;
    ran.add(record);
  };
  for (std::size_t i = 0; i < checked.infeeds.size(); ++i) {
    options.infeeds[static_cast<std::uint32_t>(i)] = checked.infeeds[i];
  }
  const RunResult result = run_image(image, under_test.arguments, options);
  if (result.interrupted) return false;
  out.worker_instructions = result.totals.worker_instructions;
  if (result.trap) {
    out.verdict = Verdict::kWrong;
    out.reason = result.trap->text();
    return true;
  }
  const Part oracle = part_of(graph, expected, checked.data);
  const std::vector<HostTensor> claims = evaluate(oracle.module.main, oracle.arguments);
  for (std::size_t i = 0; i < checked.checks.size(); ++i) {
    const std::optional<std::string> problem = violation(
        checked.checks[i], result.results[under_test.results[i]], claims[oracle.results[i]]);
    if (!problem) continue;
    out.verdict = Verdict::kWrong;
    out.reason = fmt::format("line {}: {}", checked.checks[i].line, *problem);
    return true;
  }
  const OpsUnderTest ops = ops_under_test(under_test.module.main);
  if (std::ranges::any_of(ops.makers, [&](const Op* op) { return ran.has(*op); })) return true;
  // Steps of others may move what is rearranged, as one that copies a result.
  const bool only_moves = ops.makers.empty() && !ops.rearrangements.empty();
  if (only_moves && out.device_steps != 0) return true;
  out.verdict = Verdict::kNotRun;
  if (out.device_steps == 0 || ops.makers.empty()) {
    out.reason = under_test.arguments.empty()
                     ? "what is checked follows from constants, which the compiler folds"
                     : "what is checked are the arguments, perhaps with another shape";
  } else {
    out.reason = fmt::format("tiles only moved elements for {}", ops.makers[0]->definition->name);
  }
  return true;
}

Verdict verdict_of(ExitCode code) {
  switch (code) {
    case ExitCode::kUnsupported:
    case ExitCode::kDoesNotFit:
      return Verdict::kRefused;
    case ExitCode::kMalformed:
      return Verdict::kMalformed;
    default:
      return Verdict::kWrong;
  }
}

/// The *.mlir files below a folder: all that is called so and is no folder.
std::vector<fs::path> module_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    std::error_code none;
    if (entry.path().extension() == ".mlir" && !entry.is_directory(none))
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Whether lines have anything but comments.
bool has_code(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos && !std::string_view(line).substr(begin).starts_with("//"))
      return true;
  }
  return false;
}

/// The modules of a text, whose names are those of its file; one with a problem where there is
/// none.
std::vector<ConformanceModule> modules_of(const std::string& text, const ConformanceModule& file) {
  std::vector<ConformanceModule> modules;
  for (std::string& section : split_modules(text)) {
    // In front of the first mark there may be nothing but comments.
    if (!has_code(section)) continue;
    modules.push_back(file);
    modules.back().text = std::move(section);
  }
  for (std::size_t i = 0; modules.size() > 1 && i < modules.size(); ++i)
    modules[i].name += fmt::format("#{}", i + 1);
  if (!modules.empty()) return modules;
  modules.push_back(file);
  modules.back().problem = text.empty() ? "the file is empty" : "the file has only comments";
  return modules;
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kWrong:
      return "wrong";
    case Verdict::kRefused:
      return "refused";
    case Verdict::kNotRun:
      return "not run";
    case Verdict::kMalformed:
      return "malformed";
  }
  return "";
}

std::vector<ConformanceModule> conformance_modules(const std::string& path) {
  const bool is_folder = fs::is_directory(path);
  const fs::path above =
      normal(is_folder ? fs::path(path) / "" : fs::path(path)).parent_path().parent_path();
  std::vector<ConformanceModule> modules;
  for (const fs::path& path_of_file :
       is_folder ? module_files(path) : std::vector{fs::path(path)}) {
    ConformanceModule file;
    file.file = path_of_file.string();
    file.name = normal(path_of_file).lexically_relative(above).generic_string();
    try {
      if (is_folder) check_input(path_of_file);
      std::ranges::move(modules_of(read_text_file(path_of_file), file),
                        std::back_inserter(modules));
    } catch (const InputOutputError& error) {
      if (!is_folder) throw;
      file.problem = error.problems().front().message;
      modules.push_back(std::move(file));
    }
  }
  return modules;
}

std::optional<ConformanceOutcome> run_conformance(const ConformanceModule& module,
                                                  const MachineConfig& machine,
                                                  const ConformanceLimits& limits) {
  ConformanceOutcome out;
  out.name = module.name;
  out.file = module.file;
  out.disabled = disabled_of(module.text);
  read_name(fs::path(module.file).stem().string(), out);
  if (!module.problem.empty()) {
    out.verdict = Verdict::kMalformed;
    out.reason = module.problem;
    return out;
  }
  try {
    const CheckedModule checked = import_checked(module.text, module.file);
    out.function = checked.function;
    if (!run(checked, machine, limits, out)) return std::nullopt;
  } catch (const UserError& error) {
    out.verdict = verdict_of(error.code());
    out.reason = text_of(error);
  } catch (const std::exception& error) {
    out.verdict = Verdict::kWrong;
    out.reason = error.what();
  }
  return out;
}

}  // namespace superstep
