#include "compiler/vertex/copy_boxes.h"

#include <algorithm>

#include "base/error.h"
#include "compiler/vertex/copy_plan.h"
#include "compiler/vertex/worker_code.h"

namespace superstep::vertex {
namespace {

/// The interpreter of command lists (`CopyPlan::lists`). A command is {steps of a row, negative
/// unless kDense; to; from; rows after the first; …}:
/// - kStrided, kFill: … to and from strides in words, the latter 0 for kFill;
/// - kFillPairs: … 0;
/// - kGather, kMerge: rows are -1, then 0 or the stride of kMerge in bytes, and the source's in
///   elements. One row only.
/// With more rows than one: then what to add between rows, the number of planes after the first,
/// and for each what to add before its first row. Addresses step along with a row's steps.
class CopyCode {
 public:
  CopyCode(WorkerCode& code, std::uint32_t element_bytes) : code_(code), bytes_(element_bytes) {}

  void emit() {
    const Label strided = code_.label(), fill = code_.label(), fill_pairs = code_.label(),
                narrow = code_.label(), done = code_.label();
    next_ = code_.label();
    list_ = code_.m("ld32", {"$mvertex_base", "$mzero", 0});
    code_.place(next_);
    const Reg kind = word();
    code_.branch("brneg", {kind}, strided);
    code_.branch("brz", {kind}, done);
    to_ = word();
    from_ = word();
    rows_ = word();
    const Reg pair = code_.fresh(File::kPair);
    in_rows([&] {
      code_.begin_repeat(kind);
      code_.emit("ld64step", {def(pair), "$mzero", step(from_), 1});
      code_.emit("st64step", {pair, "$mzero", step(to_), 1});
      code_.end_repeat();
    });
    code_.place(done);
    code_.exit();

    code_.place(strided);
    const Reg count = code_.m("sub", {"$mzero", kind});
    to_ = word();
    from_ = word();
    rows_ = word();
    const Reg to_stride = word();
    if (bytes_ < 4) code_.branch("brneg", {rows_}, narrow);
    code_.branch("brz", {to_stride}, fill_pairs);
    const Reg from_stride = word();
    code_.branch("brz", {from_stride}, fill);
    const Reg value = code_.fresh(File::kA);
    in_rows([&] {
      code_.begin_repeat(count);
      code_.emit("ld32step", {def(value), "$mzero", step(from_), from_stride});
      code_.emit("st32step", {value, "$mzero", step(to_), to_stride});
      code_.end_repeat();
    });
    code_.place(fill);
    in_rows([&] {
      code_.emit("ld32", {def(value), from_, "$mzero", 0});
      code_.begin_repeat(count);
      code_.emit("st32step", {value, "$mzero", step(to_), to_stride});
      code_.end_repeat();
    });
    code_.place(fill_pairs);
    in_rows([&] {
      code_.emit("ld32", {low(def(pair)), from_, "$mzero", 0});
      code_.emit("ld32", {high(def(pair)), from_, "$mzero", 0});
      code_.begin_repeat(count);
      code_.emit("st64step", {pair, "$mzero", step(to_), 1});
      code_.end_repeat();
    });
    if (bytes_ == 4) return;
    code_.place(narrow);
    copy_narrow(count, to_stride);
  }

 private:
  Reg word() { return code_.m("ld32step", {"$mzero", step(list_), 1}); }

  // The rows of a command; the list is then at the next one.
  template <class Row>
  void in_rows(const Row& row) {
    const Label again = code_.label();
    row();
    code_.branch("brz", {rows_}, next_);
    const Reg to_skip = word(), from_skip = word(), planes = word();
    const Reg left = code_.m("add", {rows_, -1});
    code_.place(again);
    code_.emit("add", {def(to_), to_, to_skip});
    code_.emit("add", {def(from_), from_, from_skip});
    row();
    code_.branch("brnzdec", {both(left)}, again);
    code_.branch("brz", {planes}, next_);
    code_.emit("add", {def(to_), to_, word()});
    code_.emit("add", {def(from_), from_, word()});
    code_.emit("add", {def(planes), planes, -1});
    code_.move(left, rows_);
    code_.branch("bri", {}, again);
  }

  Reg load_narrow(Reg stride) {
    return code_.m(bytes_ == 1 ? "ldz8step" : "ldz16step", {"$mzero", step(from_), stride});
  }

  void copy_narrow(Reg count, Reg to_stride) {
    const Label merge = code_.label(), again = code_.label();
    const Reg stride = word();
    code_.branch("brnz", {to_stride}, merge);
    code_.begin_repeat(count);
    Reg gathered = two(stride);
    if (bytes_ == 1) gathered = code_.m("sort8x8lo", {gathered, two(stride)});
    code_.emit("st32step", {gathered, "$mzero", step(to_), 1});
    code_.end_repeat();
    code_.branch("bri", {}, next_);

    code_.place(merge);
    const Reg ones = code_.constant(File::kM, bytes_ == 1 ? 0xff : 0xffff);
    const Reg left = code_.m("add", {count, -1});
    code_.place(again);
    const Reg value = load_narrow(stride);
    const Reg address = code_.m("andc", {to_, 3});
    const Reg shift = code_.m("shl", {code_.m("and", {to_, 3}), 3});
    const Reg kept =
        code_.m("andc", {code_.m("ld32", {address, "$mzero", 0}), code_.m("shl", {ones, shift})});
    const Reg joined = code_.m("or", {kept, code_.m("shl", {value, shift})});
    code_.emit("st32", {joined, address, "$mzero", 0});
    code_.emit("add", {def(to_), to_, to_stride});
    code_.branch("brnzdec", {both(left)}, again);
    code_.branch("bri", {}, next_);
  }

  Reg two(Reg stride) {
    const Reg first = load_narrow(stride), second = load_narrow(stride);
    return code_.m("sort4x16lo", {first, second});
  }

  WorkerCode& code_;
  std::uint32_t bytes_;
  Label next_;
  Reg list_, to_, from_, rows_;
};

std::span<const std::uint32_t> table_of(std::span<const std::uint32_t> state,
                                        std::uint32_t address) {
  const std::size_t first = (state[1] - address) / 4, words = std::size_t{kCopyBoxWords} * state[0];
  SUPERSTEP_CHECK(first + words <= state.size(), "the boxes are part of the vertex state");
  return state.subspan(first, words);
}

}  // namespace

Codelet copy_boxes(const MachineConfig& machine, std::uint32_t element_bytes) {
  SUPERSTEP_CHECK(element_bytes == 1 || element_bytes == 2 || element_bytes == 4,
                  "elements of 1, 2 or 4 bytes");
  WorkerCode code(machine);
  CopyCode(code, element_bytes).emit();
  Codelet codelet = code.finish("copy_boxes");
  const std::uint32_t workers = machine.tile.workers;
  // Each worker's state is the address of its list; the lists follow.
  codelet.divide = [workers, element_bytes](std::span<const std::uint32_t> state,
                                            std::uint32_t address) {
    const CopyPlan plan = plan_copies(table_of(state, address), element_bytes, workers);
    WorkerStates states{1, {}};
    std::uint32_t at = worker_states_address(address, state.size()) + 4 * workers;
    for (const std::vector<std::uint32_t>& list : plan.lists) {
      states.words.push_back(at);
      at += 4 * static_cast<std::uint32_t>(list.size());
    }
    for (const std::vector<std::uint32_t>& list : plan.lists)
      states.words.insert(states.words.end(), list.begin(), list.end());
    return states;
  };
  return codelet;
}

VertexState CopyBoxes::State::words() const {
  std::vector<StateWord> words{StateWord::number(static_cast<std::int64_t>(boxes.size())),
                               StateWord::own(2)};
  for (const Box& box : boxes) {
    words.push_back(box.to);
    words.push_back(box.from);
    for (const auto* numbers : {&box.sizes, &box.to_strides, &box.from_strides}) {
      for (const std::int64_t n : *numbers) words.push_back(StateWord::number(n));
    }
    words.push_back(StateWord::number(0));
  }
  return words;
}

void CopyBoxes::interpret(const StateView& state) const {
  for (std::size_t box = 2; box < state.size(); box += kCopyBoxWords) {
    const auto number = [&](std::size_t i) { return state.number(box + i); };
    for (std::int64_t x = 0; x < number(2); ++x) {
      for (std::int64_t y = 0; y < number(3); ++y) {
        for (std::int64_t z = 0; z < number(4); ++z) {
          std::uint32_t value = 0;
          state.pointer(box + 1)
              .plus(x * number(8) + y * number(9) + z * number(10))
              .read(&value, element_bytes);
          state.pointer(box)
              .plus(x * number(5) + y * number(6) + z * number(7))
              .write(&value, element_bytes);
        }
      }
    }
  }
}

}  // namespace superstep::vertex
