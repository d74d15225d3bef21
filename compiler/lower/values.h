#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/lower/builder.h"
#include "compiler/lower/move.h"

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

/// What lowering knows of each value of the graph, and the storage it has so far. A value may be
/// constant, a fused elementwise result that needs no storage, a set of copies that nothing has
/// needed in place yet, or stored in its linear layout.
class Values {
 public:
  Values(ProgramBuilder& builder, const Graph& graph);

  [[nodiscard]] const TensorType& type(ValueId v) const { return graph_.type(v); }
  [[nodiscard]] std::int64_t elements(ValueId v) const { return type(v).elements(); }

  void set_stored(ValueId v, BufferId buffer, Time time);
  void set_constant(ValueId v, HostTensor value);
  /// A constant all of whose elements are one element of another.
  void set_repeated(ValueId v, std::uint64_t bits);
  /// A result of an elementwise op that runs at `time`.
  void set_fused(ValueId v, Time time);
  /// A value made of copies.
  void set_view(ValueId v, std::vector<Piece> pieces, Time ready);
  void set_same(ValueId v, ValueId as);

  [[nodiscard]] ValueId root(ValueId v) const;
  [[nodiscard]] bool is_fused(ValueId v) const { return entry(v).fused; }
  [[nodiscard]] const HostTensor* constant(ValueId v) const;
  /// The bits of every element, if they are known and equal.
  [[nodiscard]] std::optional<std::uint64_t> repeated_bits(ValueId v) const;
  /// The storage of a value that has some already.
  [[nodiscard]] std::optional<BufferId> buffer(ValueId v) const { return entry(v).buffer; }
  /// When a stored or fused value is there.
  [[nodiscard]] Time time(ValueId v) const { return entry(v).time; }

  /// Storage in the linear layout, made now if there is none. Not for empty values.
  BufferId stored(ValueId v);
  /// The element that all elements equal, if that is known.
  std::optional<Splat> splat(ValueId v);
  /// Copies that do what `box` does to the elements of `v`, from wherever they are.
  Reading read(ValueId v, const Box& box);
  /// A copy of one element on every tile of `layout`.
  struct Spread {
    BufferId buffer{};
    Time time;
  };
  Spread spread(const Splat& splat, DType dtype, const LayoutPtr& layout, const Origin& origin);

  /// A new temporary in the linear layout of `type`.
  BufferId add_linear(const TensorType& type, const std::string& name, const SourceLocation& at);
  /// A new temporary with another layout.
  BufferId add_temporary(DType dtype, LayoutPtr layout, const std::string& name,
                         const SourceLocation& at);

  /// What steps that serve `op` are called.
  [[nodiscard]] Origin origin(const Op& op) const;

 private:
  struct Entry {
    std::optional<ValueId> same;
    std::optional<HostTensor> constant;
    std::optional<std::uint64_t> repeated;
    std::optional<BufferId> buffer;
    std::vector<Piece> view;
    bool fused = false;
    Time time;
  };

  [[nodiscard]] const Entry& entry(ValueId v) const { return entries_[index(root(v))]; }
  Entry& entry(ValueId v) { return entries_[index(root(v))]; }
  [[nodiscard]] Origin origin(ValueId v) const;

  ProgramBuilder& builder_;
  const Graph& graph_;
  std::vector<Entry> entries_;
  std::map<std::tuple<BufferId, std::int64_t, const Layout*>, Spread> spreads_;
};

}  // namespace superstep
