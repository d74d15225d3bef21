#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/lower/assign_layouts.h"
#include "compiler/program/builder.h"
#include "compiler/lower/moves/move.h"

namespace superstep {

/// One element that stands for all elements of a value.
struct Splat {
  std::optional<std::uint64_t> bits = {};  ///< when known at compile time
  BufferId buffer{};                       ///< else where it is
  std::int64_t element = 0;
  Time ready = {};  ///< of the buffer
};

/// Copies that read a value, and when their sources are ready.
struct Reading {
  std::vector<Piece> pieces;
  Time ready;
};

/// A copy of a value in storage, and when it is there.
struct StoredValue {
  BufferId buffer{};
  Time time;
};

/// How vertices on the tiles of a layout read a value that repeats the elements of `source`:
/// `period` is that of vertex::Access. Each interval of the layout needs elements from a whole
/// period on.
struct Broadcast {
  StoredValue source;
  vertex::Access access = vertex::Access::kScalar;
  std::int64_t period = 1;
};

/// What lowering knows of each value of the graph, and the storage it has so far. A value may be
/// constant, a fused elementwise result that needs no storage, a set of copies that nothing has
/// needed in place yet, or stored, in one layout or several.
class Values {
 public:
  Values(ProgramBuilder& builder, const Graph& graph, AssignedLayouts layouts);

  [[nodiscard]] const TensorType& type(ValueId v) const { return graph_.type(v); }
  [[nodiscard]] std::int64_t elements(ValueId v) const { return type(v).elements(); }

  void set_stored(ValueId v, BufferId buffer, Time time);
  /// An argument that gets its storage when it is first used.
  void set_open(ValueId v) { entry(v).is_open = true; }
  [[nodiscard]] bool is_open(ValueId v) const { return entry(v).is_open; }
  /// Gives an open argument its storage.
  BufferId place(ValueId v, LayoutPtr layout);
  void set_constant(ValueId v, HostTensor value);
  /// A constant all of whose elements are one element of another.
  void set_repeated(ValueId v, std::uint64_t bits);
  /// A result of an elementwise op that runs at `time` on the tiles of `layout`.
  void set_fused(ValueId v, Time time, LayoutPtr layout);
  /// A value made of copies; `is_one_copy`: of one value by one box, whose pieces are where an
  /// order cuts it.
  void set_view(ValueId v, std::vector<Piece> pieces, Time ready, bool is_one_copy = false);
  void set_same(ValueId v, ValueId as);

  [[nodiscard]] ValueId root(ValueId v) const;
  [[nodiscard]] bool is_fused(ValueId v) const { return entry(v).fused; }
  [[nodiscard]] const HostTensor* constant(ValueId v) const;
  /// The bits of every element, if they are known and equal.
  [[nodiscard]] std::optional<std::uint64_t> repeated_bits(ValueId v) const;
  /// The storage of a value that has some already.
  [[nodiscard]] std::optional<BufferId> buffer(ValueId v) const;
  /// When a stored or fused value is there.
  [[nodiscard]] Time time(ValueId v) const;
  /// The layout of a stored or fused value; null for others.
  [[nodiscard]] LayoutPtr layout(ValueId v) const;
  /// Where values are to lie.
  [[nodiscard]] const AssignedLayouts& assigned() const { return layouts_; }

  /// Storage, made now in the natural layout if there is none. Not for empty values.
  BufferId stored(ValueId v);
  /// Storage in `layout`, copied there for `reader` if the value lies elsewhere.
  StoredValue stored(ValueId v, LayoutPtr layout, const Origin& reader);
  /// A value that is a permutation of what a buffer stores: that buffer, and the layout of its
  /// storage as the value's.
  struct Permuted {
    StoredValue source;
    LayoutPtr layout;
  };
  [[nodiscard]] std::optional<Permuted> permuted(ValueId v);
  /// The element that all elements equal, if that is known.
  std::optional<Splat> splat(ValueId v);
  /// The elements that `v` repeats, on the tiles of `layout`, the layout of `elements` elements.
  /// Empty when `v` is no simple repetition.
  std::optional<Broadcast> broadcast(ValueId v, std::int64_t elements, const LayoutPtr& layout,
                                     const Origin& origin);
  /// Copies that do what `box` does to the elements of `v`, from wherever they are.
  Reading read(ValueId v, const Box& box);
  /// The same for one reader: the parts of a concatenation come from where each of them is, without
  /// being put together first.
  Reading read_side_by_side(ValueId v, const Box& box);
  /// A copy of one element on every tile of `layout`.
  StoredValue spread(const Splat& splat, const LayoutPtr& layout, const Origin& origin);

  /// A new temporary for `v`.
  BufferId add_storage(ValueId v, LayoutPtr layout);
  /// A new temporary of elements that are no tensor of the graph.
  BufferId add_temporary(DType dtype, LayoutPtr layout, const std::string& name,
                         const OpLocation& at);

  /// What steps that serve `op` are called.
  [[nodiscard]] Origin origin(const Op& op) const;
  /// What steps that make a value are called.
  [[nodiscard]] Origin origin(ValueId v) const;

 private:
  struct Entry {
    std::optional<ValueId> same;
    std::optional<HostTensor> constant;
    std::optional<std::uint64_t> repeated;
    std::vector<StoredValue> stored;  ///< the first is the original
    std::vector<Piece> view;
    bool is_one_copy = false;
    bool fused = false;
    bool is_open = false;
    LayoutPtr layout;  ///< of a fused value
    Time time;         ///< of a fused value or a view
  };
  /// Element i of a value is element `first + i / period * stride` of `source`, or, cyclic,
  /// `first + i % period * stride`.
  struct Repetition {
    BufferId source{};
    Time ready;
    std::int64_t first = 0, stride = 1, period = 1;
    bool is_cyclic = false;
    auto operator<=>(const Repetition&) const = default;
  };

  [[nodiscard]] const Entry& entry(ValueId v) const { return entries_[index(root(v))]; }
  Entry& entry(ValueId v) { return entries_[index(root(v))]; }
  std::optional<Repetition> repetition(ValueId v, std::int64_t elements);
  /// Copies `pieces`, whose destinations are row-major elements, into `buffer`.
  Time fill(BufferId buffer, const std::vector<Piece>& pieces, Time ready, const Origin& origin);
  /// The same from storage, which `v` gets if it has none.
  Reading read_stored(ValueId v, const Box& box);
  /// Where the first element of a buffer is in its storage.
  [[nodiscard]] std::int64_t first_stored(BufferId buffer) const;
  /// What each interval of `layout` needs of a repetition, gathered there.
  Broadcast gather(const Repetition& repetition, const LayoutPtr& layout, const Origin& origin);

  ProgramBuilder& builder_;
  const Graph& graph_;
  AssignedLayouts layouts_;
  std::vector<Entry> entries_;
  std::map<std::pair<Repetition, const Layout*>, Broadcast> gathered_;
};

}  // namespace superstep
