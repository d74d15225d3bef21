#include "tests/isa/instruction_case.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <sstream>
#include <tuple>

#include "isa/table.h"
#include "tests/tile_run.h"

namespace superstep::testing {

namespace {

constexpr unsigned kM = 16;             ///< registers of each file
constexpr std::uint32_t kAfter = 0x80;  ///< of the state block: the registers afterwards

/// The bits of an f16 that `value` is exactly; from the format, not from the code under test.
std::uint32_t exact_half(double value) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | 0x7c00U;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int unit = std::max(exponent - 11, -24);  // of the last place
  const double places = std::ldexp(magnitude, -unit);
  EXPECT_EQ(places, std::floor(places)) << value << " is no f16";
  const auto fraction = static_cast<std::uint32_t>(places);
  if (fraction < 0x400U) return sign | fraction;
  return sign | (static_cast<std::uint32_t>(unit + 25) << 10) | (fraction & 0x3ffU);
}

std::uint32_t number(const std::string& text) {
  const std::size_t bar = text.find('|');
  if (bar != std::string::npos)
    return number(text.substr(0, bar)) | number(text.substr(bar + 1)) << 16;
  if (text.starts_with("0x")) return static_cast<std::uint32_t>(std::stoull(text, nullptr, 16));
  if (text.ends_with("f")) return std::bit_cast<std::uint32_t>(std::stof(text));
  if (text.ends_with("h")) return exact_half(std::stod(text));
  return static_cast<std::uint32_t>(std::stoll(text));
}

/// One exchange event, comparable.
using Event = std::tuple<std::string, std::uint64_t, std::vector<std::uint32_t>>;

/// Registers of both files, memory, exchange events, and the fault if one is expected.
struct State {
  std::map<unsigned, std::uint32_t> registers;  ///< $m0 is 0, $a0 is 16
  std::map<std::uint32_t, std::uint32_t> memory;
  std::vector<Event> events;
  std::string fault = "none";
};

std::vector<std::uint32_t> numbers(const std::string& list) {
  std::vector<std::uint32_t> out;
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');) out.push_back(number(item));
  return out;
}

State parse(const std::string& text) {
  State state;
  std::istringstream items(text);
  std::string item;
  while (items >> item) {
    const std::size_t equals = item.find('=');
    const std::string place = item.substr(0, equals);
    if (place == "fault") {
      std::string rest;
      std::getline(items, rest);
      state.fault = item.substr(equals + 1) + rest;
      break;
    }
    const std::vector<std::uint32_t> values = numbers(item.substr(equals + 1));
    const std::size_t at = place.find('@');
    if (at != std::string::npos) {
      state.events.emplace_back(place.substr(0, at), std::stoul(place.substr(at + 1)), values);
      continue;
    }
    for (unsigned i = 0; i < values.size(); ++i) {
      if (place[0] == '[') {
        state.memory[static_cast<std::uint32_t>(std::stoul(place.substr(1), nullptr, 16)) + 4 * i] =
            values[i];
      } else {
        const unsigned file = place[0] == 'm' ? 0 : kM;
        state.registers[file + static_cast<unsigned>(std::stoul(place.substr(1))) + i] = values[i];
      }
    }
  }
  return state;
}

std::string name_of(unsigned place) {
  return (place < kM ? "$m" : "$a") + std::to_string(place % kM);
}

/// Loads or stores every register but the base of the state block and the zeros.
std::string for_each_register(const std::string& mnemonic, std::uint32_t offset, bool worker) {
  std::string text;
  for (unsigned place = 0; place < (worker ? 2 * kM : kM); ++place) {
    if (place == 13 || place % kM == 15) continue;
    text += mnemonic + " " + name_of(place) + ", $m13, $m15, " +
            std::to_string(offset / 4 + place) + "\n";
  }
  return text;
}

std::string nops(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += "nop\n";
  return text;
}

std::vector<std::uint32_t> words_of(const std::string& assembly) {
  return assemble(assembly, "case.S").words;
}

bool on_supervisor(const std::string& assembly) {
  for (const std::uint32_t word : words_of(assembly)) {
    const isa::InstructionInfo* info = isa::find_instruction(word);
    if (info == nullptr || info->spec.where != isa::Where::kEverywhere) return false;
    for (const isa::OperandInfo& operand : info->operands) {
      if (operand.is_register && operand.file == isa::File::kAux) return false;
    }
  }
  return true;
}

std::vector<Event> events_of(const Tile& tile) {
  std::vector<Event> events;
  for (const PortEvent& e : tile.port_events()) {
    const std::uint64_t cycle = e.cycle - kCaseCycle;
    if (e.kind == PortEvent::Kind::kSend) {
      events.emplace_back("send", cycle, std::vector<std::uint32_t>{e.value, e.words, e.direction});
    } else {
      events.emplace_back(e.kind == PortEvent::Kind::kMux ? "mux" : "pointer", cycle,
                          std::vector<std::uint32_t>{e.value});
    }
  }
  return events;
}

/// The worker's code, begun by the supervisor on worker 0 alone after it loaded the common weights.
TileStop start_worker(TileRun& run, const std::string& code) {
  run.load(kCodelet, code);
  std::string text = "ldconst $m2, 0x80000\n put $CCCSLOAD, $m2\n";
  for (int slice = 0; slice < 64; slice += 2) text += "ld128putcs " + std::to_string(slice) + "\n";
  return run.supervise(text + kRunWorker);
}

/// The same code on the supervisor, over its syncs and exchange phases to the end.
TileStop start_supervisor(TileRun& run, const std::string& code, std::vector<Event>& events) {
  run.load(kCodelet, "setzi $m13, 0x50000\n" + code);
  run.tile().boot(kCodelet);
  TileStop stop = run.tile().run(0);
  events = events_of(run.tile());
  while (stop.kind == TileStop::Kind::kExchangeDone ||
         (stop.kind == TileStop::Kind::kSync && stop.zone != 4)) {
    run.tile().clear_port_events();
    stop = stop.kind == TileStop::Kind::kSync ? run.tile().run(stop.cycle) : run.tile().resume();
  }
  return stop;
}

/// Runs `assembly` between a given state and the state afterwards, and compares.
void run(const InstructionCase& c, const std::string& assembly, bool worker) {
  SCOPED_TRACE(::testing::Message() << (worker ? "worker: " : "supervisor: ") << assembly << " | "
                                    << c.in << " -> " << c.out);
  const State in = parse(c.in), out = parse(c.out);
  TileRun run;
  std::array<std::uint32_t, 2 * kM> before{};
  for (const auto& [place, value] : in.registers) before[place] = value;
  run.put(kData, std::vector<std::uint32_t>(before.begin(), before.end()));
  for (const auto& [address, value] : in.memory) {
    run.put(address, std::vector<std::uint32_t>{value});
  }
  const std::string code = for_each_register("ld32", 0, worker) + nops(worker ? 3 : 17) + assembly +
                           "\n" + for_each_register("st32", kAfter, worker) +
                           (worker ? "exitz $mzero" : "sync 4");
  std::vector<Event> events;
  const TileStop stop = worker ? start_worker(run, code) : start_supervisor(run, code, events);
  ASSERT_EQ(run.cause(), out.fault);
  if (run.tile().fault()) return;
  ASSERT_EQ(stop.kind, TileStop::Kind::kSync);
  EXPECT_EQ(events, out.events);
  const std::vector<std::uint32_t> after = run.get(kData + kAfter, 2 * kM);
  for (unsigned place = 0; place < (worker ? 2 * kM : kM); ++place) {
    if (place == 13 || place % kM == 15) continue;
    const auto named = out.registers.find(place);
    const std::uint32_t expected = named != out.registers.end() ? named->second : before[place];
    EXPECT_EQ(after[place], expected)
        << name_of(place) << std::hex << " is 0x" << after[place] << ", not 0x" << expected;
  }
  std::map<std::uint32_t, std::uint32_t> memory = in.memory;
  for (const auto& [address, value] : out.memory) memory[address] = value;
  for (const auto& [address, value] : memory) {
    EXPECT_EQ(run.get(address, 1)[0], value) << std::hex << "at 0x" << address;
  }
}

const char* const kSetupEnd = "---\n";

}  // namespace

std::size_t record_of(const InstructionCase& c) {
  std::string assembly = c.assembly;
  std::size_t first = 0;
  const std::size_t setup = assembly.find(kSetupEnd);
  if (setup != std::string::npos) {
    first = words_of(assembly.substr(0, setup)).size();
    assembly.erase(setup, 4);
  }
  const std::vector<std::uint32_t> words = words_of(assembly);
  const isa::InstructionInfo* info =
      first < words.size() ? isa::find_instruction(words[first]) : nullptr;
  if (info == nullptr) {
    ADD_FAILURE() << c.assembly << " does not begin with an instruction";
    return 0;
  }
  return info->number;
}

void check(const InstructionCase& c) {
  const isa::InstructionInfo& info = isa::instruction_table()[record_of(c)];
  std::string assembly = c.assembly;
  const std::size_t setup = assembly.find(kSetupEnd);
  if (setup != std::string::npos) assembly.erase(setup, 4);
  const isa::Where where = info.spec.where;
  const bool worker = c.on != On::kSupervisor && where != isa::Where::kSupervisor;
  const bool supervisor =
      c.on != On::kWorker &&
      (c.on == On::kSupervisor || where == isa::Where::kSupervisor || on_supervisor(assembly));
  ASSERT_TRUE(worker || supervisor) << assembly << " runs nowhere";
  if (worker) run(c, assembly, true);
  if (supervisor) run(c, assembly, false);
  const bool bundled = (info.pattern.mask >> 31) == 0 && worker;
  if (!bundled || words_of(assembly).size() != 1) return;
  const bool main = info.spec.pipe == isa::Pipe::kMain;
  const auto bundle_with = [&](const std::string& other) {
    return main ? "{ " + assembly + "; " + other + " }" : "{ " + other + "; " + assembly + " }";
  };
  const std::string beside_nothing = bundle_with(main ? "fnop" : "nop");
  run(c, beside_nothing, true);
  // Registers that no case uses.
  const std::string beside_another = bundle_with(main ? "setzi $a13, 291" : "setzi $m11, 291");
  InstructionCase with_another = c;
  with_another.out = (main ? "a13=291 " : "m11=291 ") + c.out;
  run(with_another, beside_another, true);
  if (info.spec.control != isa::Control::kPlain) return;
  run(c, "nop\n rpt 1, 0\n" + beside_nothing, true);
  run(with_another, "nop\n rpt 1, 0\n" + beside_another, true);
}

}  // namespace superstep::testing
