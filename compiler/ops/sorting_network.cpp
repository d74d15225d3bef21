// Bitonic sorting (Batcher, Sorting networks and their applications, AFIPS 1968): in each phase,
// runs of a power of two, ascending and descending by turns, become runs of twice that length, by
// exchanges with partners at strides that halve. Partners compare the same two rows, each for
// itself, so that an exchange is one move and one elementwise vertex.

#include "compiler/ops/sorting_network.h"

#include <algorithm>
#include <bit>

#include "compiler/ops/ops.h"

namespace superstep {
namespace {

/// So many phases have code of their own; more are a loop over one, of all strides [assumed].
constexpr int kUnrolledPhases = 4;

using Tensors = std::vector<Tensor>;

class Network {
 public:
  Network(const Shape& shape, bool is_numbered, const Comparator& comparator)
      : comparator_(comparator),
        is_numbered_(is_numbered),
        count_(shape[1]),
        padded_(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(shape[1])))),
        shape_{shape[0], padded_, shape[2]} {}

  [[nodiscard]] SortedRows sorted(const Tensors& keys) const {
    Tensors rows;
    for (const Tensor& key : keys) {
      const bool fits = padded_ == count_;
      rows.push_back(fits ? key
                          : pad(key, comparator_.last_key(key), {0, 0, 0}, {0, padded_ - count_, 0},
                                {0, 0, 0}));
    }
    if (is_numbered_) rows.push_back(numbers(*keys[0].builder));
    const int phases = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(padded_))) - 1;
    rows = phases > kUnrolledPhases ? loop(rows, phases) : unrolled(rows);
    SortedRows result;
    if (is_numbered_) {
      result.numbers = rows.back();
      rows.pop_back();
    }
    result.keys = std::move(rows);
    return result;
  }

 private:
  [[nodiscard]] Tensor numbers(GraphBuilder& builder) const {
    return builder.iota({DType::kI32, shape_}, 1);
  }
  /// Of rows in the runs that a phase makes, from the end in those that descend.
  [[nodiscard]] Tensor places(Tensor length) const {
    const Tensor from_begin = numbers(*length.builder);
    const Tensor descends = (from_begin & broadcast(length, shape_, {})) > 0.0;
    return select(descends, from_begin ^ from_begin.like(-1), from_begin);
  }
  [[nodiscard]] Tensor partners(Tensor x, std::int64_t stride) const {
    const Tensor pairs = reshape(x, {shape_[0], padded_ / (2 * stride), 2, stride * shape_[2]});
    return reshape(reverse(pairs, {2}), shape_);
  }
  /// Whether rows go in front of their partners.
  [[nodiscard]] Tensor goes_in_front(const Tensors& rows, const Tensors& others) const {
    GraphBuilder& builder = *rows[0].builder;
    if (!is_numbered_) return comparator_.is_before(builder, shape_, rows, others);
    return comparator_.goes_in_front(builder, {{rows.begin(), rows.end() - 1}, rows.back()},
                                     {{others.begin(), others.end() - 1}, others.back()}, count_);
  }
  [[nodiscard]] Tensors exchanged(const Tensors& rows, Tensor places, std::int64_t stride) const {
    Tensors others, next;
    for (const Tensor& x : rows) others.push_back(partners(x, stride));
    const Tensor is_lower = (places & places.like(static_cast<double>(stride))) == 0.0;
    const Tensor stays = compare("EQ", goes_in_front(rows, others), is_lower);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      next.push_back(select(stays, rows[i], others[i]));
    }
    return next;
  }

  [[nodiscard]] Tensors unrolled(Tensors rows) const {
    for (std::int64_t length = 2; length <= padded_; length *= 2) {
      const Tensor at = places(rows[0].builder->number(DType::kI32, static_cast<double>(length)));
      for (std::int64_t stride = length / 2; stride > 0; stride /= 2) {
        rows = exchanged(rows, at, stride);
      }
    }
    return rows;
  }

  [[nodiscard]] Tensors loop(Tensors rows, int phases) const {
    rows.push_back(rows[0].builder->number(DType::kI32, 2));
    rows = repeat(phases, rows, [&](std::span<const Tensor> values) {
      const Tensor length = values.back();
      Tensors next = phase({values.begin(), values.end() - 1}, length);
      next.push_back(length + length);
      return next;
    });
    rows.pop_back();
    return rows;
  }
  /// Exchanges at those strides that are below the length of runs.
  [[nodiscard]] Tensors phase(const Tensors& rows, Tensor length) const {
    const Tensor at = places(length);
    Tensors next = rows;
    for (std::int64_t stride = padded_ / 2; stride > 0; stride /= 2) {
      Op choice;
      choice.regions.resize(2);
      for (const bool exchanges : {false, true}) {
        Graph& arm = choice.regions[exchanges ? 1 : 0];
        GraphBuilder inner(arm, length.builder->location());
        Tensors arguments;
        for (const Tensor& row : next) arguments.push_back(inner.argument(row.type()));
        const Tensor its_places = inner.argument(at.type());
        std::vector<ValueId> results;
        for (const Tensor& x : exchanges ? exchanged(arguments, its_places, stride) : arguments) {
          results.push_back(x.id);
        }
        arm.set_results(std::move(results));
      }
      const Tensor is_below = length > static_cast<double>(stride);
      Tensors operands = {convert(is_below, DType::kI32)};
      operands.insert(operands.end(), next.begin(), next.end());
      operands.push_back(at);
      next = length.builder->append(kCaseOp, operands, std::move(choice));
    }
    return next;
  }

  const Comparator& comparator_;
  bool is_numbered_;
  std::int64_t count_, padded_;
  Shape shape_;
};

}  // namespace

SortedRows sort_by_network(std::vector<Tensor> keys, bool is_numbered,
                           const Comparator& comparator) {
  return Network(keys[0].shape(), is_numbered, comparator).sorted(keys);
}

}  // namespace superstep
