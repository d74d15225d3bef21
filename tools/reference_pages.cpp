#include "tools/reference_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "compiler/compile.h"
#include "compiler/ops/library/function.h"
#include "compiler/ops/op.h"
#include "isa/control_registers.h"
#include "isa/machine_config.h"
#include "isa/machine_keys.h"
#include "isa/machine_limits.h"
#include "isa/registers.h"
#include "isa/table.h"
#include "sim/trace/trace.h"
#include "sim/trap.h"
#include "tools/command.h"
#include "report/json_text.h"
#include "tools/op_costs.h"
#include "tools/op_examples.h"
#include "report/insights.h"
#include "report/report.h"
#include "report/validation/invariants.h"

namespace superstep {
namespace {

constexpr std::string_view kNote =
    "<!-- Written by `superstep docs docs` from the tables of the code; do not edit. -->\n\n";

/// Text in a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string_view name_of(isa::Where where) {
  constexpr std::string_view kNames[] = {"any", "worker", "supervisor"};
  return kNames[static_cast<std::size_t>(where)];
}

std::string_view name_of(isa::Source source) {
  constexpr std::string_view kNames[] = {"published", "inferred", "measured", "assumed"};
  return kNames[static_cast<std::size_t>(source)];
}

std::string slots_of(const isa::Spec& spec, std::string_view mnemonic) {
  if (spec.on_amp) return "16 / `tile.amp_units`";
  if (spec.slots == nullptr) return "1";
  const MachineConfig::Costs costs = load_machine("gc200").costs;
  return fmt::format("{} (`costs.{}`)", costs.*spec.slots, mnemonic);
}

/// `m` and `a` are the files, `out` and `in-out` what is written: `m out, m, 16 bits signed`.
std::string operands_of(const isa::InstructionInfo& info) {
  std::string out;
  for (const isa::OperandInfo& operand : info.operands) {
    if (!out.empty()) out += ", ";
    if (operand.is_register) {
      constexpr std::string_view kRoles[] = {"", " out", " in-out"};
      out += operand.file == isa::File::kMain ? "m" : "a";
      if (operand.count > 1) out += fmt::format("×{}", operand.count);
      out += kRoles[static_cast<std::size_t>(operand.role)];
    } else if (operand.is_address) {
      out += fmt::format("word address of {} bits", operand.field.width);
    } else {
      out += fmt::format("{} {}", operand.is_signed ? "signed" : "unsigned", operand.field.width);
    }
  }
  return out;
}

std::string_view name_of(isa::Access access) {
  constexpr std::string_view kNames[] = {"", "trap", "read", "read, write"};
  return kNames[static_cast<std::size_t>(access)];
}

std::string control_register_table() {
  std::string out =
      "\n## Control and status registers\n\n"
      "What `get` and `put`, or of the upper ones `uget` and `uput`, do on a worker and on the "
      "supervisor; *trap* where the\nregister is known to be but is not modelled. The assembler "
      "refuses a name in code of the other kind.\n\n"
      "| name | number | worker | supervisor | what it holds |\n|---|---|---|---|---|\n";
  for (const isa::ControlRegister& known : isa::control_registers()) {
    const std::string number = known.is_upper()
                                   ? fmt::format("{} upper", known.number - isa::kUpperCsrs)
                                   : fmt::format("{}", known.number);
    out += fmt::format("| `${}` | {} | {} | {} | {} |\n", known.name, number, name_of(known.worker),
                       name_of(known.supervisor), known.summary);
  }
  return out;
}

std::string isa_page() {
  std::string out = std::string("# Instructions\n\n") + std::string(kNote);
  out += fmt::format(
      "{} forms. Registers are `$m0` to `$m15` (`main`) and `$a0` to `$a15` (`aux`); an operand "
      "letter stands for\none register or, for 64 and 128 bits, an aligned group. Operands, in "
      "their "
      "order: `m×2` is an aligned pair of\n`$m` registers, `out` and `in-out` say that it is "
      "written, "
      "`signed 16` is an immediate of 16 bits. An encoding "
      "has eight nibbles: a digit (A to F\nupper case), an operand letter, or four bits in "
      "brackets. Slots are those of a worker: "
      "each is `tile.workers` or `tile.pipeline_depth` cycles, whichever is more. A bundle is "
      "{{main; aux}}.\n"
      "In `$d, $b, $o, i` of a load or store the address is `$b + $o + i x size`: base and delta "
      "in bytes, the index, an immediate "
      "or\na register, in values of the access, so that `ld32 $m0, $m1, $m2, 3` loads from `$m1 + "
      "$m2 + 12`. In `$b, $o+=, i` it is "
      "`$b + $o`, and\n`$o` then grows by `i x size`, where `i` is signed.\n"
      "Encodings: *published* in the tests of graphcore/llvm-project-fork, *inferred* from "
      "published "
      "forms of the same family,\n*measured* by osmarks/ipu-stack, or *assumed* (ours).\n\n",
      isa::instruction_table().size());
  out += "| syntax | operands | encoding | pipe | slots | where | encoding from | what it does |\n";
  out += "|---|---|---|---|---|---|---|---|\n";
  for (const isa::InstructionInfo& info : isa::instruction_table()) {
    const isa::Spec& spec = info.spec;
    out +=
        fmt::format("| `{}` | {} | `{}` | {} | {} | {} | {} | {} |\n", cell(spec.syntax),
                    operands_of(info), cell(spec.encoding),
                    spec.pipe == isa::Pipe::kMain ? "main" : "aux", slots_of(spec, info.mnemonic),
                    name_of(spec.where), name_of(spec.encoding_source), cell(spec.summary));
  }
  return out + control_register_table();
}

std::string_view kind_of(const Lowering& lowering) {
  using Text = std::string_view;
  return std::visit(
      Overloaded{[](const ElementwiseLowering&) -> Text { return "elementwise, fused"; },
                 [](const RearrangeLowering&) -> Text { return "copies of boxes"; },
                 [](const ConstantLowering&) -> Text { return "made at compile time"; },
                 [](const ExpandLowering&) -> Text { return "other ops"; },
                 [](const StepLowering&) -> Text { return "supersteps of its own"; }},
      lowering);
}

std::string kinds_of(const Lowerings& lowerings) {
  std::vector<std::string_view> kinds;
  std::ranges::transform(lowerings, std::back_inserter(kinds), kind_of);
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return fmt::format("{}", fmt::join(kinds, "; else "));
}

std::string text_of(DTypeSet set) {
  struct Family {
    DTypeSet dtypes;
    std::string_view name;
  };
  constexpr Family kFamilies[] = {{kAnyDType, "any"},
                                  {kNumbers, "numbers"},
                                  {kFloats, "floats"},
                                  {kIntegers, "integers"},
                                  {kSignedIntegers, "signed integers"},
                                  {kComplex, "complex"},
                                  {kBooleans, "i1"}};
  std::string text;
  for (const Family& family : kFamilies) {
    if ((set & family.dtypes) != family.dtypes) continue;
    text += (text.empty() ? "" : ", ") + std::string(family.name);
    set &= ~family.dtypes;
  }
  for (const DType dtype : kAllDTypes) {
    if ((set & only(dtype)) != 0) {
      text += (text.empty() ? "" : ", ") + std::string(name_of(dtype));
    }
  }
  return text;
}

/// The element types of the operands; once where they are all alike.
std::string dtypes_of(const OperandTypes& operands) {
  std::vector<std::string> texts;
  const std::size_t different = operands.size() + (operands.repeats() ? 1 : 0);
  for (std::size_t i = 0; i < different; ++i) texts.push_back(text_of(operands.of(i)));
  if (std::ranges::all_of(texts, [&](const std::string& text) { return text == texts[0]; })) {
    texts.resize(std::min<std::size_t>(texts.size(), 1));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string text_of(const ElementCost& cost) {
  return fmt::format("{}{:.6g}", cost.data_decide ? "~" : "", cost.cycles);
}

std::string cycles_of(const OpDefinition& op) {
  std::vector<std::string> texts;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kI32}) {
    if (const auto cost = element_cost(op, dtype))
      texts.push_back(fmt::format("{} {}", text_of(*cost), name_of(dtype)));
  }
  if (!texts.empty()) return fmt::format("{}", fmt::join(texts, ", "));
  if (std::ranges::find(op_examples(), op.name, &OpExample::op) != op_examples().end())
    return "[example](#examples)";
  if (op.traits.effect == Effect::kHost) return "a visit to the host";
  const Lowering& first = *op.lowerings.begin();
  if (std::holds_alternative<ConstantLowering>(first)) return "0";
  return std::holds_alternative<ExpandLowering>(first) ? "of the other ops" : "";
}

std::string table_of_other_types() {
  constexpr std::array kTypes = {DType::kBF16, DType::kI8, DType::kI64, DType::kF64, DType::kC64};
  std::string out =
      "\n## Cycles of other types\n\n"
      "As above, of vectors of other types, for ops that do not become other ops. Those that no "
      "instruction computes are\ncomputed by several: f64 in software, complex numbers and 64-bit "
      "integers by their parts. `superstep compile` says what\na program of any type takes.\n\n| "
      "op |";
  std::string rule = "\n|---|";
  for (const DType dtype : kTypes) {
    out += fmt::format(" {} |", name_of(dtype));
    rule += "---|";
  }
  out += rule + "\n";
  for (const OpDefinition* op : all_ops()) {
    if (std::holds_alternative<ExpandLowering>(*op->lowerings.begin())) continue;
    std::string cells;
    bool takes_one = false;
    for (const DType dtype : kTypes) {
      const std::optional<ElementCost> cost = element_cost(*op, dtype);
      takes_one |= cost.has_value();
      cells += fmt::format(" {} |", cost ? text_of(*cost) : "");
    }
    if (takes_one) out += fmt::format("| `{}` |{}\n", op->name, cells);
  }
  return out;
}

/// `2 dot_general, multiply`.
std::string ops_of(const ProgramCost& cost) {
  std::vector<std::string> texts;
  for (const auto& [name, count] : cost.ops) {
    const std::string_view op = name.substr(name.find('.') + 1);
    texts.push_back(count == 1 ? std::string(op) : fmt::format("{} {}", count, op));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string types_of(const std::vector<ValueId>& values, const Graph& graph) {
  std::vector<std::string> texts;
  for (const ValueId v : values) texts.push_back(graph.type(v).text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string example_table() {
  std::string out =
      "\n## Examples\n\n"
      "Uses of ops that are not of vectors alone, each a program on 64 tiles of `bow`: the ops "
      "that "
      "are planned, the steps, the\nbytes that exchanges move (steps of loops once), and the "
      "cycles "
      "that tiles compute and exchange in a call, simulated with\nzeros as arguments; some 100 of "
      "computing are of the call. A function is a sum, a maximum or an order. Barriers are not in "
      "them.\n\n"
      "| op | of | makes | becomes | compute steps | exchanges | bytes | compute cycles | exchange "
      "cycles |\n|---|---|---|---|---|---|---|---|---|\n";
  const MachineConfig machine = load_machine("bow", {"grid.tiles=64"});
  for (const OpExample& example : op_examples()) {
    const Module module = import_stablehlo(example.text(), std::string(example.op));
    const ProgramCost cost = cost_of(module, machine);
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n", example.op,
                       types_of(module.main.arguments(), module.main),
                       types_of(module.main.results(), module.main), ops_of(cost), cost.computes,
                       cost.exchanges, cost.exchange_bytes, cost.compute.value(),
                       cost.exchange.value());
  }
  return out;
}

/// `lapack_Xgees_ffi` with its letters and types, or a name as it is.
std::string table_of_custom_calls() {
  constexpr std::string_view kLapack = "lapack_";
  std::map<std::string, std::pair<std::vector<std::string>, DTypeSet>> rows;
  for (const LibraryName& name : library_names()) {
    std::string family(name.name);
    if (!family.starts_with(kLapack)) {
      rows[family].second |= name.dtypes;
      continue;
    }
    const std::string letter(1, std::exchange(family.at(kLapack.size()), 'X'));
    rows[family].first.push_back(letter);
    rows[family].second |= name.dtypes;
  }
  std::string out =
      "\n## Custom calls\n\n"
      "The functions that `stablehlo.custom_call` may name, and the types of their first operand. "
      "X "
      "is the letter of\nLAPACK for the type.\n\n| function | X | operand |\n|---|---|---|\n";
  for (const auto& [family, row] : rows) {
    out += fmt::format("| `{}` | {} | {} |\n", family, fmt::join(row.first, ", "),
                       text_of(row.second));
  }
  return out;
}

std::string ops_page() {
  std::string out = std::string("# Ops\n\n") + std::string(kNote);
  out +=
      "The ops that a program may use, for f4, f6, f8, bf16, f16, f32, f64, complex<f32>, "
      "complex<f64>, i1 and signed and unsigned\nintegers of 2 to 64 bits as far as StableHLO "
      "allows them, but for\n`chlo.next_after` and `chlo.mulhi` of types below a byte or of f8. "
      "Everything else is refused with its place (exit code 6).\nPrivate functions "
      "and decompositions of composites are inlined, tuples read as their elements, and tokens as "
      "nothing.\n\n"
      "Cycles are what the compiler predicts that a tile of `bow` takes for one element more, "
      "where\n"
      "the op is alone on vectors of f32, f16 or i32. All workers share them: they are also the "
      "slots\n"
      "of one worker for an element. Loads and stores are in them; ops that are fused keep in\n"
      "registers what lies between them, and instructions of one run beside those of another. 0 is "
      "an\n"
      "op of which nothing is left; ~ says that data decide, and is the path that the compiler\n"
      "counts. Not in them: the call of a vertex, the exchange of operands that lie elsewhere, "
      "the\n"
      "barrier. Ops that are not of vectors alone have an [example](#examples), or take what the\n"
      "other ops do that their description names; there are cycles of "
      "[other types](#cycles-of-other-types).\n\n"
      "| op | operands | becomes | cycles | what it does |\n|---|---|---|---|---|\n";
  for (const OpDefinition* op : all_ops()) {
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", op->name, dtypes_of(op->traits.operands),
                       kinds_of(op->lowerings), cycles_of(*op), cell(op->summary));
  }
  return out + table_of_other_types() + table_of_custom_calls() + example_table();
}

std::string_view name_of(Unit unit) {
  constexpr std::string_view kNames[] = {"number", "bytes", "address", "frequency",
                                         "time",   "rate",  "cycles",  "name"};
  return kNames[static_cast<std::size_t>(unit)];
}

/// The keys in which a machine differs from its base, with their sources.
std::string differences(const std::string& name, const MachineSources& base) {
  const MachineSources sources = machine_sources(name);
  std::string text;
  for (const ConfigKey& key : config_keys(load_machine(name))) {
    const std::string& source = sources.at(key.key);
    if (source == base.at(key.key)) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("`{} = {}` ({})", key.key, key.value, source);
  }
  return text;
}

std::string config_page() {
  std::string out = std::string("# Machine files\n\n") + std::string(kNote);
  out += fmt::format(
      "A machine is a TOML file; `extends = \"builtin:gc200\"` takes everything that the file does "
      "not set from another.\nA file without `extends` sets every key. Quantities carry their "
      "unit: "
      "`\"624 KiB\"`, `\"1.85 GHz\"`, `\"300 ns\"`,\n`\"68 cycles\"`, `\"27.2 GB/s\"`. "
      "`superstep config show MACHINE` prints a machine with all its keys as such a file.\n"
      "`schema` is the version of this format; a file that does not say it is of schema 1.\n\n"
      "```toml\n"
      "schema = 1\n"
      "extends = \"builtin:bow\"\n"
      "name = \"mine\"\n\n"
      "[tile]\n"
      "source = \"assumed: what if\"  # of the keys of this table that have none\n"
      "workers = 4\n"
      "clock = {{ value = \"1.5 GHz\", source = \"published: data sheet\" }}\n"
      "```\n\n"
      "A source begins with its kind and a colon: {}. A number without one is\n`user: FILE:LINE`. "
      "`config show` and `/provenance/config_origin` of a trace have the source of each number.\n\n"
      "`--set tile.workers=8` overrides one key; the source of its number is `user: --set "
      "tile.workers=8`. A machine with other\nnumbers than the builtin one whose name it has says "
      "so "
      "in reports: `bow with tile.workers=8`, `bow with mine.toml`.\nWhat is wrong with files and "
      "overrides is reported at once, rules between keys included: exit code 5, or 2 when all of "
      "it\n"
      "comes from `--set`.\n\n"
      "`\"exchange.*_latency\" = {{ scale = 5 }}` in a file, or `--set 'exchange.*_latency=x5'`, "
      "multiplies all numbers that are like that;\ntheir sources become `user: 5 x` and the old "
      "one. A number that the machine does not read stays as it is where the product is not "
      "allowed.\n"
      "`grid.tiles = 1000` sets `grid.rows` and `grid.spares`: columns and lanes\nstay, and the "
      "last places have no tile. `grid.rows` of a later file or `--set` take its place, and are "
      "whole.\nA machine that `isa.encoding = \"mk2\"` has no room for gets "
      "`\"wide\"`, unless its file or `--set` names mk2: words of the exchange then have bits of\n"
      "our own (`isa/exchange_ports.h`), and an event of the program says so. Laws of the grid "
      "are `extrapolated` beyond the rows and columns that they were fitted on.\n\n"
      "The default is that of `gc200`, and the source is where that number comes from. "
      "The scope is `run` where the compiler does not read a key: `--set` changes it for a "
      "compiled "
      "program too.\n\n"
      "| key | kind | default | range | scope | meaning | source "
      "|\n|---|---|---|---|---|---|---|\n",
      fmt::join(source_kinds(), ", "));
  const MachineSources base = machine_sources("gc200");
  for (const ConfigKey& key : file_keys(load_machine("gc200"))) {
    const std::string& source = base.at(key.key == tiles_key().name ? "grid.rows" : key.key);
    out += fmt::format("| `{}` | {} | `{}` | `{}` | {} | {} | {} |\n", key.key, name_of(key.unit),
                       key.value, key.range, key.scope == Scope::kRun ? "run" : "compile",
                       cell(key.help), cell(source));
  }
  const EncodingLimits mk2 = limits_of(Encoding::kMk2), wide = limits_of(Encoding::kWide);
  out += fmt::format(
      "\nBetween keys these rules hold:\n\n"
      "- `isa.encoding = \"mk2\"` has room for {} tiles, memory to `{:#x}` and {} workers, "
      "`\"wide\"` for "
      "{}, `{:#x}` and {}.\n"
      "- `tile.region1_base` lies in tile memory or at its end.\n"
      "- `tile.region2` is at most what lies from there on, and leaves whole pairs of elements.\n"
      "- `tile.element` is a power of two, and `tile.memory_base` and `tile.region1_base` are "
      "multiples of it.\n"
      "- `sync.column_skew` has an entry for each column.\n"
      "- `exchange.table` has one for each pair of columns where `exchange.fabric` is `table`.\n"
      "- A key of `exchange` that `exchange.fabric` does not read is refused, unless its file sets "
      "every key, a later file or `--set` sets "
      "the fabric, or it is scaled.\n"
      "- `exchange.max_send_words` words are whole items of `exchange.width`, and at most 32 with "
      "`isa.encoding = \"wide\"`: a machine that gets more from a builtin one has 32 there.\n"
      "- `grid.spares` are fewer than the places of a row of the grid.\n"
      "\nA tile has one region of memory, two or three: region 0, below `tile.region1_base`, is "
      "executable; region 1, from there on, is interleaved; region 2, the last `tile.region2` "
      "bytes, is neither. Region 1 is missing where `tile.region1_base` is the end of memory, or "
      "`tile.region2` takes all of it: then products do without the AMP units.\n"
      "\nCounts of exchange instructions and addresses stay words of 4 B, and no address needs "
      "to be a multiple of more. A port moves an item at a time: with `exchange.width` = 8 B or "
      "16 B the 2 or 4 words of a cycle, or what is left of a send; with 2 B or 1 B a word in 2 or "
      "4 cycles, which arrives with the last of them: its receiver's mux and pointer count in that "
      "one. A send takes as long as its items.\n"
      "\n## Builtin machines\n\n| machine | what it is | differs from `gc200` in "
      "|\n|---|---|---|\n",
      mk2.tiles, mk2.memory_end, mk2.workers, wide.tiles, wide.memory_end, wide.workers);
  for (const std::string& name : builtin_machines()) {
    out += fmt::format("| `{}` | {} | {} |\n", name, cell(load_machine(name).description),
                       cell(differences(name, base)));
  }
  return out;
}

std::string trace_page() {
  return std::string("# The trace file\n\n") + std::string(kNote) + trace_schema_markdown() +
         invariants_markdown();
}

std::string insights_page() {
  return std::string("# What is worth a look: the rules\n\n") + std::string(kNote) +
         insight_rules_markdown();
}

std::string field_table(std::span<const AnswerField> fields) {
  std::string out = "| field | type | unit | meaning |\n|---|---|---|---|\n";
  for (const AnswerField& field : fields)
    out += fmt::format("| `{}` | {} | {} | {} |\n", field.path, field.type, field.unit,
                       cell(field.meaning));
  return out;
}

std::string report_page() {
  std::string out = std::string("# JSON documents\n\n") + std::string(kNote);
  out +=
      "With `--json` every command prints one document on standard output, whatever happens: a "
      "refusal, a trap, a program that\ndoes not fit, an interruption. `steps[].name` is in every "
      "element of the list `steps`. [schema.json](schema.json)\nis the JSON Schema of all. A trace "
      "keeps the fields of `superstep report` in `/summary/json`.\n\n"
      "## Fields of every document\n\n" +
      field_table(envelope_fields());
  for (const Command& command : all_commands()) {
    out += fmt::format("\n## superstep {}\n\n", command.name) + field_table(command.fields());
  }
  out += "\n## Kinds of traps\n\nA trap begins with its kind.\n\n| kind | meaning |\n|---|---|\n";
  for (const TrapKindInfo& kind : trap_kinds()) {
    out += fmt::format("| {} | {} |\n", kind.name, kind.summary);
  }
  return out;
}

/// One schema that a document of any command meets.
std::string schema_page() {
  nlohmann::ordered_json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                   {"oneOf", nlohmann::ordered_json::array()},
                                   {"$defs", nlohmann::ordered_json::object()}};
  const auto add = [&](std::string_view command, std::span<const AnswerField> fields) {
    schema["oneOf"].push_back({{"$ref", "#/$defs/" + std::string(command)}});
    schema["$defs"][std::string(command)] = schema_of(command, fields);
  };
  add("help", {});
  for (const Command& command : all_commands()) add(command.name, command.fields());
  return json_text(schema, 2) + "\n";
}

std::string cli_page() {
  std::string out = std::string("# Commands\n\n") + std::string(kNote);
  out += "```\n" + overview() + "```\n";
  for (const Command& command : all_commands())
    out += fmt::format("\n## superstep {}\n\n```\n{}```\n", command.name, command.options().help());
  return out;
}

}  // namespace

std::vector<ReferencePage> reference_pages() {
  return {{"isa.md", isa_page},           {"ops.md", ops_page},        {"config.md", config_page},
          {"trace.md", trace_page},       {"report.md", report_page},  {"cli.md", cli_page},
          {"insights.md", insights_page}, {"schema.json", schema_page}};
}

}  // namespace superstep
