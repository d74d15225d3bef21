#include "base/error.h"
#include "compiler/vertex/output_block.h"

namespace superstep::vertex {
namespace {

constexpr std::uint32_t kBoxBytes = 48;

/// One worker's walk over the boxes. Rows are the innermost dimension. Words are dealt by row, or
/// within each row when there are few rows. Narrow elements are dealt by row where no word belongs
/// to two rows, and by box elsewhere.
class BoxCopy {
 public:
  BoxCopy(WorkerCode& code, std::uint32_t element_bytes)
      : code_(code), bytes_(element_bytes), workers_(code.machine().tile.workers) {}

  void emit() {
    const Label done = code_.label(), next_box = code_.label(), row_loop = code_.label(),
                wrapped = code_.label();
    left_ = code_.m("ld32", {"$mvertex_base", "$mzero", 0});
    box_ = code_.m("ld32", {"$mvertex_base", "$mzero", 1});
    worker_ = code_.worker_id();
    if (bytes_ < 4) owner_ = code_.constant(File::kM, 0);
    const Label box_loop = code_.label();
    code_.branch("brz", {left_}, done);

    code_.place(box_loop);
    const Reg n0 = word(2), n1 = word(3);
    columns_ = word(4);
    code_.branch("brz", {code_.m("mul", {code_.m("mul", {n0, n1}), columns_})}, next_box);
    row_ = code_.fresh(File::kM);
    row_step_ = code_.fresh(File::kM);
    deal(code_.m("mul", {n0, n1}), next_box);

    // Rows are counted by the middle dimension, which the outer one carries.
    const Reg outer = code_.constant(File::kM, 0);
    const Reg middle = row_;
    code_.place(row_loop);
    const Label carry = code_.label();
    code_.place(carry);
    code_.branch("brnz", {code_.m("cmpult", {middle, n1})}, wrapped);
    code_.emit("sub", {def(middle), middle, n1});
    code_.emit("add", {def(outer), outer, 1});
    code_.branch("bri", {}, carry);
    code_.place(wrapped);
    code_.branch("brz", {code_.m("cmpult", {outer, n0})}, next_box);
    to_ = row_start(0, 5, outer, middle);
    from_ = row_start(1, 8, outer, middle);
    if (bytes_ == 4) {
      copy_words();
    } else {
      copy_narrow();
    }
    code_.emit("add", {def(middle), middle, row_step_});
    code_.branch("bri", {}, row_loop);

    code_.place(next_box);
    if (bytes_ < 4) {
      // Boxes that one worker has to copy alone go round.
      code_.emit("add", {def(owner_), owner_, 1});
      code_.emit("movnz", {both(owner_), code_.m("cmpeq", {owner_, workers_}), "$mzero"});
    }
    code_.emit("add", {def(box_), box_, kBoxBytes});
    code_.emit("add", {def(left_), left_, -1});
    code_.branch("brnz", {left_}, box_loop);
    code_.place(done);
    code_.exit();
  }

 private:
  Reg word(std::uint32_t index) { return code_.m("ld32", {box_, "$mzero", index}); }

  Reg row_start(std::uint32_t address, std::uint32_t strides, Reg outer, Reg middle) {
    const Reg far = code_.m("mul", {word(strides), outer});
    const Reg near = code_.m("mul", {word(strides + 1), middle});
    return code_.m("add", {code_.m("add", {word(address), far}), near});
  }

  // Sets the first row and the row step of this worker, and for words the first column and column
  // step.
  void deal(Reg rows, Label next_box) {
    const Label dealt = code_.label();
    if (bytes_ == 4) {
      column_ = code_.fresh(File::kM);
      column_step_ = code_.fresh(File::kM);
      const Label by_column = code_.label();
      code_.branch("brnz", {code_.m("cmpult", {rows, workers_})}, by_column);
      by_rows();
      code_.set_constant(column_, 0);
      code_.set_constant(column_step_, 1);
      code_.branch("bri", {}, dealt);
      code_.place(by_column);
      code_.set_constant(row_, 0);
      code_.set_constant(row_step_, 1);
      code_.move(column_, worker_);
      code_.set_constant(column_step_, workers_);
      code_.branch("brz", {code_.m("cmpult", {column_, columns_})}, next_box);
      code_.place(dealt);
      return;
    }
    const Label alone = code_.label();
    const Reg ends = code_.m("or", {code_.m("or", {word(0), word(5)}), word(6)});
    code_.branch("brnz", {code_.m("and", {ends, 3})}, alone);
    const Reg stride = word(7);
    const Reg dense = code_.m("cmpeq", {stride, bytes_});
    const Reg apart = code_.m("cmpeq", {code_.m("and", {stride, 3}), 0});
    code_.branch("brz", {code_.m("or", {dense, apart})}, alone);
    by_rows();
    code_.branch("bri", {}, dealt);
    code_.place(alone);
    code_.branch("brz", {code_.m("cmpeq", {owner_, worker_})}, next_box);
    code_.set_constant(row_, 0);
    code_.set_constant(row_step_, 1);
    code_.place(dealt);
  }

  void by_rows() {
    code_.move(row_, worker_);
    code_.set_constant(row_step_, workers_);
  }

  void copy_words() {
    // Columns of this worker: (columns - column + step - 1) / step, where the step is 1 or the
    // number of workers.
    const Label by_row = code_.label(), counted = code_.label();
    const Reg count = code_.fresh(File::kM);
    const Reg from_stride = code_.m("shrs", {code_.m("mul", {word(10), column_step_}), 2});
    const Reg to_stride = code_.m("shrs", {code_.m("mul", {word(7), column_step_}), 2});
    const Reg from = code_.m("add", {from_, code_.m("mul", {word(10), column_})});
    const Reg to = code_.m("add", {to_, code_.m("mul", {word(7), column_})});
    code_.branch("brz", {code_.m("cmpne", {column_step_, 1})}, by_row);
    const Reg up = code_.m("add", {code_.m("sub", {columns_, column_}), workers_ - 1});
    code_.move(count, divide_small(code_, up, code_.constant(File::kM, workers_)).quotient);
    code_.branch("bri", {}, counted);
    code_.place(by_row);
    code_.move(count, columns_);
    code_.place(counted);
    copy_strided(from, from_stride, to, to_stride, count);
  }

  void copy_strided(Reg from, Reg from_stride, Reg to, Reg to_stride, Reg count) {
    const Reg from_delta = code_.constant(File::kM, 0), to_delta = code_.constant(File::kM, 0);
    const Reg value = code_.fresh(File::kA);
    repeat(code_, count, [&] {
      code_.bundle({"ld32step", {def(value), from, step(from_delta), from_stride}}, idle_aux());
      code_.bundle({"st32step", {value, to, step(to_delta), to_stride}}, idle_aux());
    });
  }

  Reg load_narrow(std::uint32_t index) {
    return code_.m(bytes_ == 1 ? "ldz8" : "ldz16", {from_, "$mzero", index});
  }
  void advance(Reg to_bytes, Reg from_bytes) {
    code_.emit("add", {def(to_), to_, to_bytes});
    code_.emit("add", {def(from_), from_, from_bytes});
  }

  // Single elements into their words, until a dense row reaches a word; then whole words; then the
  // rest.
  void copy_narrow() {
    const std::uint32_t in_word = 4 / bytes_;
    const Label one = code_.label(), single = code_.label(), row_done = code_.label(),
                many = code_.label();
    const Reg left = code_.fresh(File::kM);
    code_.move(left, columns_);
    const Reg to_stride = word(7), from_stride = word(10);
    const Reg four = code_.constant(File::kM, 4);
    const Reg word_from_stride = code_.m("mul", {from_stride, in_word});
    const Reg dense = code_.m("cmpeq", {to_stride, bytes_});
    code_.place(one);
    code_.branch("brz", {left}, row_done);
    code_.branch("brz", {dense}, single);
    code_.branch("brnz", {code_.m("and", {to_, 3})}, single);
    code_.branch("brnz", {code_.m("cmpult", {left, in_word})}, single);
    code_.place(many);
    code_.emit("st32", {gather(from_stride), to_, "$mzero", 0});
    advance(four, word_from_stride);
    code_.emit("sub", {def(left), left, code_.constant(File::kM, in_word)});
    code_.branch("brz", {code_.m("cmpult", {left, in_word})}, many);
    code_.branch("bri", {}, one);

    code_.place(single);
    const Reg value = load_narrow(0);
    const Reg address = code_.m("andc", {to_, 3});
    const Reg shift = code_.m("shl", {code_.m("and", {to_, 3}), 3});
    const Reg old = code_.m("ld32", {address, "$mzero", 0});
    const Reg mask = code_.m("shl", {code_.constant(File::kM, bytes_ == 1 ? 0xff : 0xffff), shift});
    const Reg kept = code_.m("andc", {old, mask});
    const Reg joined = code_.m("or", {kept, code_.m("shl", {value, shift})});
    code_.emit("st32", {joined, address, "$mzero", 0});
    advance(to_stride, from_stride);
    code_.emit("add", {def(left), left, -1});
    code_.branch("bri", {}, one);
    code_.place(row_done);
  }

  Reg gather(Reg from_stride) {
    const std::uint32_t in_word = 4 / bytes_;
    std::vector<Reg> values;
    Reg delta;
    for (std::uint32_t k = 0; k < in_word; ++k) {
      if (k == 1) delta = from_stride;
      if (k > 1) delta = code_.m("add", {delta, from_stride});
      values.push_back(k == 0 ? load_narrow(0)
                              : code_.m(bytes_ == 1 ? "ldz8" : "ldz16", {from_, delta, 0}));
    }
    const Reg low = code_.m("sort4x16lo", {values[0], values[1]});
    if (bytes_ == 2) return low;
    return code_.m("sort8x8lo", {low, code_.m("sort4x16lo", {values[2], values[3]})});
  }

  WorkerCode& code_;
  std::uint32_t bytes_;
  std::uint32_t workers_;
  Reg left_, box_, worker_, owner_, columns_, row_, row_step_, column_, column_step_, to_, from_;
};

}  // namespace

Codelet copy_boxes(const MachineConfig& machine, std::uint32_t element_bytes) {
  SUPERSTEP_CHECK(element_bytes == 1 || element_bytes == 2 || element_bytes == 4,
                  "elements of 1, 2 or 4 bytes");
  WorkerCode code(machine);
  BoxCopy(code, element_bytes).emit();
  return code.finish("copy_boxes");
}

}  // namespace superstep::vertex
