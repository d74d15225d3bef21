#include "compiler/vertex/put.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "compiler/vertex/interpret.h"
#include "compiler/vertex/lane.h"
#include "compiler/vertex/select_offsets.h"
#include "compiler/vertex/turns.h"
#include "compiler/vertex/vector_arithmetic.h"

namespace superstep::vertex {
namespace {

/// Elements that are combined at a time: whole words of each table.
std::uint32_t lanes_of(const std::vector<DType>& dtypes) {
  std::uint32_t lanes = 1;
  for (const DType dtype : dtypes) lanes = std::max(lanes, 4 / bytes_of(dtype));
  return lanes;
}

/// Bytes of which a turn on register pairs has as many.
constexpr std::uint32_t kPairBytes = 8;

bool has_input(const Expression& expression, std::size_t input) {
  return std::ranges::any_of(expression.steps(), [&](const Expression::Step& step) {
    return step.primitive == Primitive::kInput && step.bits == input;
  });
}

/// A worker's list has commands {offsets - 1, or the address of a list of offsets, address of the
/// offsets, first position, positions, turns of a run - 1, for each value: address of its table at
/// the first position, of its runs, bytes of a position, of a run}, then -1. A turn combines
/// `elements_a_turn`; where runs only replace, it moves a unit and turns are as many as there are.
class PutCode {
 public:
  PutCode(WorkerCode& code, const Put& put)
      : code_(code),
        put_(put),
        lane_(code, put.expression, std::vector<Access>(2 * put.dtypes.size(), Access::kVector),
              {}),
        pairs_(code, put.expression, put.outputs, lane_),
        in_pairs_(put.unit_bytes == kPairBytes && put.dtypes.size() == 1 && pairs_.is_possible() &&
                  pairs_.elements_per_turn() * bytes_of(put.dtypes[0]) == kPairBytes) {}

  [[nodiscard]] std::uint32_t elements_a_turn() const {
    if (put_.only_replaces()) return put_.unit_bytes / bytes_of(put_.dtypes[0]);
    return in_pairs_ ? pairs_.elements_per_turn() : lanes_of(put_.dtypes);
  }

  void emit() {
    const Label next = code_.label(), again = code_.label(), skip = code_.label(),
                used = code_.label(), done = code_.label();
    const bool is_listed = put_.lists > 0;
    const std::size_t count = put_.dtypes.size();
    list_ = code_.m("ld32", {"$mvertex_base", "$mzero", 0});
    code_.place(next);
    const std::vector<std::uint32_t> words = words_in_registers();
    const bool has_all = words.size() + 1 == of_value(count, 0);
    const auto next_word = [&] { return code_.m("ld32step", {"$mzero", step(list_), 1}); };
    const Reg left = has_all ? next_word() : loaded(0);
    code_.branch("brneg", {left}, done);
    for (const std::uint32_t n : words) held_.emplace(n, has_all ? next_word() : loaded(n));
    const Reg offsets = word(kOffsets), first = word(kFirst), positions = word(kPositions);
    Reg end;
    if (is_listed) {
      end = code_.m("ld32", {left, "$mzero", 0});
      code_.emit("add", {def(left), left, 4});
    }
    if (is_listed) code_.branch("brz", {code_.m("cmpult", {left, end})}, used);
    code_.place(again);
    Reg number;
    if (is_listed) number = code_.m("ld32step", {"$mzero", step(left), 1});
    const Reg offset = is_listed ? code_.m("ld32", {offsets, "$mzero", number})
                                 : code_.m("ld32step", {"$mzero", step(offsets), 1});
    const Reg position = code_.m("sub", {offset, first});
    code_.branch("brz", {code_.m("cmpult", {position, positions})}, skip);
    std::vector<Reg> to, from;
    for (std::size_t i = 0; i < count; ++i) {
      const Reg distance = code_.m("mul", {position, word(of_value(i, kPositionBytes))});
      to.push_back(code_.m("add", {word(of_value(i, kTable)), distance}));
      if (is_listed) {
        const Reg before = code_.m("mul", {number, word(of_value(i, kRunBytes))});
        from.push_back(code_.m("add", {word(of_value(i, kRuns)), before}));
      } else {
        from.push_back(code_.fresh(File::kM));
        code_.move(from.back(), word(of_value(i, kRuns)));
      }
    }
    if (put_.only_replaces()) {
      replace(word(kTurns), to[0], from[0]);
    } else if (in_pairs_) {
      combine_pairs(to[0], from[0]);
    } else {
      combine(to, from);
    }
    code_.place(skip);
    if (is_listed) {
      code_.branch("brnz", {code_.m("cmpult", {left, end})}, again);
      code_.place(used);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        const Reg runs = word(of_value(i, kRuns));
        code_.emit("add", {def(runs), runs, word(of_value(i, kRunBytes))});
      }
      code_.branch("brnzdec", {both(left)}, again);
    }
    if (!has_all) code_.emit("add", {def(list_), list_, 4 * of_value(count, 0)});
    code_.branch("bri", {}, next);
    code_.place(done);
    code_.exit();
  }

 private:
  // Words of a command behind the first, and those of a value.
  enum : std::uint32_t { kOffsets = 1, kFirst, kPositions, kTurns, kValues };
  enum : std::uint32_t { kTable, kRuns, kPositionBytes, kRunBytes, kValueWords };

  static std::uint32_t of_value(std::size_t value, std::uint32_t word) {
    return kValues + kValueWords * static_cast<std::uint32_t>(value) + word;
  }

  Reg loaded(std::uint32_t word) { return code_.m("ld32", {list_, "$mzero", word}); }
  Reg word(std::uint32_t word) {
    const auto held = held_.find(word);
    return held == held_.end() ? loaded(word) : held->second;
  }

  /// Registers have the words that every offset needs, and as many others as are free beside what a
  /// turn takes: what does not fit is loaded for each offset that is used, not spilled for all. All
  /// words where something is spilled in any case.
  [[nodiscard]] std::vector<std::uint32_t> words_in_registers() const {
    const std::size_t count = put_.dtypes.size();
    const bool is_listed = put_.lists > 0;
    std::vector<std::uint32_t> words{kOffsets, kFirst, kPositions};
    const auto add = [&](std::uint32_t of_each) {
      for (std::size_t i = 0; i < count; ++i) words.push_back(of_value(i, of_each));
    };
    if (!is_listed) add(kRuns);
    if (!is_listed) add(kRunBytes);
    const std::size_t needed = words.size();
    add(kPositionBytes);
    add(kTable);
    if (is_listed) add(kRunBytes);
    if (is_listed) add(kRuns);
    words.push_back(kTurns);
    // The command, its first word, the end of a list; two addresses of each value, a counter,
    // elements.
    std::size_t others = 2 + (is_listed ? 1 : 0) + 2 * count;
    const auto is_in_main = [](DType dtype) { return !is_float(dtype) || dtype == DType::kBF16; };
    if (!put_.only_replaces()) others += 1;
    if (!put_.only_replaces() && std::ranges::any_of(put_.dtypes, is_in_main)) {
      others += 2 * lanes_of(put_.dtypes);
    }
    if (needed + others <= kMRegisters) words.resize(std::min(words.size(), kMRegisters - others));
    std::ranges::sort(words);
    return words;
  }

  /// A counter of the turns of a run, from them less one.
  Reg turns_left() {
    const auto held = held_.find(kTurns);
    if (held == held_.end()) return loaded(kTurns);
    const Reg left = code_.fresh(File::kM);
    code_.move(left, held->second);
    return left;
  }

  void replace(Reg turns, Reg to, Reg from) {
    const bool in_pairs = put_.unit_bytes == 8;
    const Reg value = code_.fresh(in_pairs ? File::kPair : File::kA);
    code_.begin_repeat(turns);
    code_.emit(in_pairs ? "ld64step" : "ld32step", {def(value), "$mzero", step(from), 1});
    code_.emit(in_pairs ? "st64step" : "st32step", {value, "$mzero", step(to), 1});
    code_.end_repeat();
  }

  void combine_pairs(Reg to, Reg from) {
    const Label turn = code_.label();
    const Reg left = turns_left();
    code_.place(turn);
    const Reg of_table = code_.fresh(File::kPair), of_run = code_.fresh(File::kPair);
    code_.emit("ld64", {def(of_table), to, "$mzero", 0});
    if (has_input(put_.expression, 1)) {
      code_.emit("ld64step", {def(of_run), "$mzero", step(from), 1});
    }
    const auto& steps = put_.expression.steps();
    for (std::uint32_t n = 0; n < steps.size(); ++n) {
      if (!pairs_.is_used(n) || steps[n].primitive != Primitive::kInput) continue;
      pairs_.provide(n, 0, steps[n].bits == 0 ? of_table : of_run);
    }
    const Reg result = pairs_.value(put_.outputs[0].id, 0);
    auto label = pairs_.labels().begin();
    for (std::size_t i = 0; i <= pairs_.instructions().size(); ++i) {
      for (; label != pairs_.labels().end() && label->before == i; ++label) {
        code_.place(label->label);
      }
      if (i < pairs_.instructions().size()) code_.emit(pairs_.instructions()[i]);
    }
    code_.emit("st64step", {result, "$mzero", step(to), 1});
    code_.branch("brnzdec", {both(left)}, turn);
  }

  void combine(const std::vector<Reg>& to, const std::vector<Reg>& from) {
    const std::size_t count = to.size();
    const std::uint32_t lanes = lanes_of(put_.dtypes);
    const Label turn = code_.label();
    const Reg left = turns_left();
    code_.place(turn);
    std::vector<std::vector<Reg>> results(count);
    std::map<std::size_t, Form> forms;  // all lanes of a result are in the file of the first
    for (std::uint32_t k = 0; k < lanes; ++k) {
      lane_.begin([&](std::uint32_t input, Form form) {
        const std::size_t i = input % count;
        return load_element(code_, put_.dtypes[i], form, input < count ? to[i] : from[i], "$mzero",
                            k);
      });
      for (std::size_t i = 0; i < count; ++i) results[i].push_back(result(i, forms));
    }
    for (std::size_t i = 0; i < count; ++i) store(results[i], bytes_of(put_.dtypes[i]), to[i]);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t bytes = lanes * bytes_of(put_.dtypes[i]);
      code_.emit("add", {def(to[i]), to[i], bytes});
      code_.emit("add", {def(from[i]), from[i], bytes});
    }
    code_.branch("brnzdec", {both(left)}, turn);
  }

  Reg result(std::size_t i, std::map<std::size_t, Form>& forms) {
    const std::uint32_t node = put_.outputs[i].id;
    if (put_.dtypes[i] == DType::kF16) {
      lane_.ensure(node);
      const bool in_main = lane_.has(node, Form::kMain);
      const Form form = forms.try_emplace(i, in_main ? Form::kMain : Form::kHalf).first->second;
      return lane_.value(node, form);
    }
    return bytes_of(put_.dtypes[i]) < 4 ? lane_.main(node) : lane_.any_word(node);
  }

  // `sort4x16lo` joins the lower halves of two registers, `sort8x8lo` their even bytes.
  Reg joined(const char* name, Reg low, Reg high) {
    return low.file == File::kM ? code_.m(name, {low, high}) : code_.a(name, {low, high});
  }

  void store(const std::vector<Reg>& elements, std::uint32_t bytes, Reg to) {
    const std::size_t in_word = 4 / bytes;
    for (std::size_t k = 0; k < elements.size(); k += in_word) {
      Reg word = elements[k];
      if (bytes <= 2) word = joined("sort4x16lo", word, elements[k + 1]);
      if (bytes == 1) {
        word = joined("sort8x8lo", word, joined("sort4x16lo", elements[k + 2], elements[k + 3]));
      }
      code_.emit("st32", {word, to, "$mzero", static_cast<std::uint32_t>(k / in_word)});
    }
  }

  WorkerCode& code_;
  const Put& put_;
  Lane lane_;
  VectorArithmetic pairs_;
  bool in_pairs_;
  Reg list_;                           ///< its command
  std::map<std::uint32_t, Reg> held_;  ///< words of it, in registers
};

struct PutDivision {
  std::uint32_t workers;
  std::vector<DType> dtypes;
  bool only_replaces;
  std::uint32_t elements_a_turn, lists;

  WorkerStates operator()(std::span<const std::uint32_t> state, std::uint32_t address) const {
    SUPERSTEP_CHECK(state.size() == kPutWords + 2 * dtypes.size(), "the state of a put");
    const std::uint32_t groups = state[1], positions = state[3], run = state[5];
    const auto sharing = static_cast<Put::Sharing>(state[6]);
    const std::uint32_t turns = run / elements_a_turn;
    // Runs of several positions may meet anywhere: then one worker puts them in order, unless none
    // do. Else so many share a run, so many its like.
    const bool may_meet = run > state[4] && state[2] > 1 && sharing != Put::Sharing::kOffsets;
    const std::uint32_t along = may_meet ? 1 : std::min(turns, workers);
    const bool shares_groups = has_enough_groups(sharing, groups, workers / along);
    const std::uint32_t across =
        sharing == Put::Sharing::kNone && !shares_groups ? 1 : workers / along;
    WorkerStates states{1, {}, 0, {}};
    std::vector<std::uint32_t> commands;
    const std::uint32_t begin = worker_states_address(address, state.size()) + 4 * workers;
    for (std::uint32_t w = 0; w < workers; ++w) {
      states.words.push_back(begin + 4 * static_cast<std::uint32_t>(commands.size()));
      Turns its_groups{0, groups}, offsets{0, state[2]}, places{0, positions};
      if (w < along * across) {
        const Turns of_run = turns_of(turns, along, w % along);
        Turns& shared = shares_groups                         ? its_groups
                        : sharing == Put::Sharing::kPositions ? places
                                                              : offsets;
        shared = turns_of(shared.count, across, w / along);
        if (shared.count > 0) states.busy = w + 1;
        for (std::uint64_t g = 0; g < its_groups.count && shared.count > 0; ++g) {
          append(commands, state, its_groups.first + g, offsets, places, of_run);
        }
      }
      commands.push_back(~0U);
      // What a list has of the offsets that were looked through, and of those the worker uses.
      const double of_part = static_cast<double>(positions) / state[9];
      const double of_worker = static_cast<double>(places.count) / positions;
      if (lists > 0) {
        states.shares.insert(states.shares.end(), {of_part * state[2] / workers, of_worker});
      } else {
        states.shares.push_back(of_part * of_worker);
      }
    }
    states.words.insert(states.words.end(), commands.begin(), commands.end());
    return states;
  }

 private:
  /// Whether workers had better share groups than what is in each: to skip an offset takes some
  /// half of what it takes to use it.
  [[nodiscard]] static bool has_enough_groups(Put::Sharing sharing, std::uint32_t groups,
                                              std::uint32_t across) {
    return groups > 1 &&
           (sharing == Put::Sharing::kOffsets ? groups >= across : 2 * groups > across);
  }

  /// The command of a group, or one for each list.
  void append(std::vector<std::uint32_t>& commands, std::span<const std::uint32_t> state,
              std::uint64_t group, Turns offsets, Turns places, Turns run) const {
    const auto words = static_cast<std::uint32_t>(SelectOffsets::list_words(state[2], workers));
    for (std::uint32_t list = 0; list < std::max(lists, 1U); ++list) {
      const std::uint64_t head = lists > 0 ? state[8] + 4 * list * words : offsets.count - 1;
      append_one(commands, state, head, group, offsets.first, places, run);
    }
  }

  void append_one(std::vector<std::uint32_t>& list, std::span<const std::uint32_t> state,
                  std::uint64_t head, std::uint64_t group, std::uint64_t first_offset, Turns places,
                  Turns run) const {
    const auto put = [&](std::uint64_t word) { list.push_back(static_cast<std::uint32_t>(word)); };
    const std::uint64_t offsets_a_group = state[2], positions = state[3], position = state[4];
    const std::uint64_t first = run.first * elements_a_turn;
    put(head);
    put(state[0] + 4 * (group * offsets_a_group + first_offset));
    put(state[7] + places.first);
    put(places.count);
    put(only_replaces ? run.count : run.count - 1);
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      const std::uint64_t bytes = bytes_of(dtypes[i]), run_elements = state[5];
      const std::uint64_t before = group * offsets_a_group + first_offset;
      put(state[kPutWords + 2 * i] +
          ((group * positions + places.first) * position + first) * bytes);
      put(state[kPutWords + 2 * i + 1] + (before * run_elements + first) * bytes);
      put(position * bytes);
      put(run_elements * bytes);
    }
  }
};

}  // namespace

bool Put::only_replaces() const {
  const Expression::Step& step = expression.steps()[outputs[0].id];
  return dtypes.size() == 1 && step.primitive == Primitive::kInput && step.bits == 1;
}

VertexState Put::State::words() const {
  std::vector<StateWord> words{offsets,
                               StateWord::number(groups),
                               StateWord::number(offsets_a_group),
                               StateWord::number(positions),
                               StateWord::number(position_elements),
                               StateWord::number(run_elements),
                               StateWord::number(static_cast<std::int64_t>(sharing)),
                               StateWord::number(first),
                               lists,
                               StateWord::number(table_positions)};
  for (const Value& value : values) {
    words.push_back(value.table);
    words.push_back(value.runs);
  }
  return words;
}

Codelet Put::code(const MachineConfig& machine) const {
  SUPERSTEP_CHECK(unit_bytes == 4 || unit_bytes == 8, "units of 4 or 8 bytes");
  WorkerCode code(machine);
  PutCode put(code, *this);
  put.emit();
  Codelet codelet = code.finish("put");
  codelet.divide =
      PutDivision{machine.tile.workers, dtypes, only_replaces(), put.elements_a_turn(), lists};
  return codelet;
}

void Put::interpret(const StateView& state) const {
  const std::int64_t offsets = state.number(2), positions = state.number(3);
  const std::int64_t position = state.number(4), run = state.number(5);
  for (std::int64_t n = 0; n < state.number(1) * offsets; ++n) {
    const std::int64_t offset = state.pointer(0).plus(4 * n).get<std::int32_t>() - state.number(7);
    if (offset < 0 || offset >= positions) continue;
    for (std::int64_t e = 0; e < run; ++e) {
      const std::int64_t to = (n / offsets * positions + offset) * position + e;
      const auto at = [&](std::size_t value, bool is_run) {
        const auto bytes = static_cast<std::int64_t>(size_of(dtypes[value]));
        return state.pointer(kPutWords + 2 * value + (is_run ? 1 : 0))
            .plus((is_run ? n * run + e : to) * bytes);
      };
      std::vector<HostTensor> inputs;
      for (const bool is_run : {false, true}) {
        for (std::size_t i = 0; i < dtypes.size(); ++i) {
          const bool is_used = has_input(expression, (is_run ? dtypes.size() : 0) + i);
          inputs.push_back(is_used ? at(i, is_run).element(dtypes[i])
                                   : HostTensor(TensorType{dtypes[i], {}}));
        }
      }
      for (std::size_t i = 0; i < dtypes.size(); ++i) {
        const HostTensor value = evaluate_expression(expression, outputs[i], inputs);
        at(i, false).write(value.data.data(), value.data.size());
      }
    }
  }
}

}  // namespace superstep::vertex
