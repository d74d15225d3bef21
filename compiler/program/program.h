#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "compiler/program/layout.h"
#include "compiler/vertex/amp_product.h"
#include "compiler/vertex/codelet.h"
#include "isa/op_location.h"

namespace superstep {

enum class BufferId : std::uint32_t {};
constexpr std::uint32_t index(BufferId b) { return static_cast<std::uint32_t>(b); }

/// Storage on some tiles: an interval of elements on each tile of its layout.
struct Buffer {
  enum class Kind : std::uint8_t {
    kArgument,
    kConstant,
    kTemporary,
    kState,  ///< the vertex states of each tile
  };
  Kind kind = Kind::kTemporary;
  std::string name;
  TensorType type;  ///< what a report calls it; its shape may differ from the layout's elements
  std::uint32_t element_bytes = 4;
  LayoutPtr layout;
  std::vector<std::byte> contents;  ///< kConstant: the elements, dense
  OpLocation source;
  bool is_result = false;       ///< lives until the host has read it
  std::uint32_t read_past = 0;  ///< bytes behind an interval that vertices may read and not use
  /// Where it must lie: what one instruction accesses together needs different memory elements, and
  /// 128-bit accesses the interleaved region.
  enum class Region : std::uint8_t { kAny, kFirst, kInterleaved };
  Region region = Region::kAny;

  /// Bytes on a tile that holds `interval`, padded to 8, and what is read past them; at most what
  /// 32 bits hold.
  [[nodiscard]] std::uint32_t bytes(const Interval& interval) const {
    constexpr std::int64_t kMost = 0xfffffff8;
    return static_cast<std::uint32_t>(
        std::min(kMost, (interval.count * element_bytes + 7) / 8 * 8 + read_past));
  }
};

/// What a codelet computes, before there is code for it.
struct ElementwiseSpec {
  vertex::Expression expression;
  std::vector<vertex::Node> outputs;
  std::vector<vertex::Access> inputs;
};
struct ReduceSpec {
  vertex::Expression expression;
  std::vector<vertex::Node> outputs;
  std::vector<DType> dtypes;
  bool rows = false;  ///< by vertex::reduce_rows
};
struct CopySpec {
  std::uint32_t element_bytes = 4;
};
struct AppendSpec {
  std::uint32_t element_bytes = 1;
};
struct MatmulSpec {
  DType input = DType::kF32;
  DType output = DType::kF32;
};
struct AmpProductSpec {
  vertex::AmpProduct product;
};
struct AmpTransposeSpec {};
struct HalfTransposeSpec {};
struct AddPartsSpec {
  std::int64_t parts = 1;
};
using CodeletSpec = std::variant<ElementwiseSpec, ReduceSpec, CopySpec, AppendSpec, MatmulSpec,
                                 AmpProductSpec, AmpTransposeSpec, HalfTransposeSpec, AddPartsSpec>;

/// A word of vertex state: a number, or an address that is known once memory is allocated.
struct StateWord {
  enum class Base : std::uint8_t { kNone, kBuffer, kState, kScratch };
  Base base = Base::kNone;
  std::uint32_t value = 0;  ///< the number, or bytes to add to the address of the base
  BufferId buffer{};

  static StateWord number(std::int64_t n) {
    return {Base::kNone, static_cast<std::uint32_t>(n), {}};
  }
  static StateWord address(BufferId buffer, std::int64_t byte = 0) {
    return {Base::kBuffer, static_cast<std::uint32_t>(byte), buffer};
  }
  /// Byte `byte` of the vertex state itself, for constants and tables that travel with it.
  static StateWord own(std::size_t byte) {
    return {Base::kState, static_cast<std::uint32_t>(byte), {}};
  }
  /// The tile's scratch for all workers of the codelet.
  static StateWord scratch() { return {Base::kScratch, 0, {}}; }
  auto operator<=>(const StateWord&) const = default;
};

/// The words of a launch's vertex state. Copies share them: states of many tiles and steps are
/// equal.
class VertexState {
 public:
  VertexState() : VertexState(std::vector<StateWord>()) {}
  VertexState(std::vector<StateWord> words)
      : words_(std::make_shared<const std::vector<StateWord>>(std::move(words))) {}
  VertexState(std::initializer_list<StateWord> words)
      : VertexState(std::vector<StateWord>(words)) {}

  [[nodiscard]] auto begin() const { return words_->begin(); }
  [[nodiscard]] auto end() const { return words_->end(); }
  [[nodiscard]] std::size_t size() const { return words_->size(); }
  const StateWord& operator[](std::size_t i) const { return (*words_)[i]; }
  /// Equal for copies, and only for them.
  [[nodiscard]] const void* identity() const { return words_.get(); }
  /// Compares words.
  bool operator<(const VertexState& other) const {
    return words_ != other.words_ && *words_ < *other.words_;
  }

 private:
  std::shared_ptr<const std::vector<StateWord>> words_;
};

/// One `runall` of a codelet on a tile, or several with common weights.
struct Launch {
  TileId tile{};
  VertexState state;
  /// Words from one worker's state to the next one's; 0: all share one.
  std::uint32_t worker_words = 0;

  /// Some blocks of weights: the supervisor loads each and runs all workers on the next states.
  struct Stage {
    std::uint32_t codelet = 0;  ///< in place of that of the compute set
    std::uint32_t blocks = 0;
  };
  std::vector<Stage> stages = {};
  StateWord weights = {};
  std::uint32_t weight_loads = 0;  ///< of 128 bits for a block
};

/// Launches of one codelet on some tiles, for one op or one group of fused ops.
struct ComputeSet {
  std::string name;
  std::string operation;
  OpLocation source;
  std::uint32_t codelet = 0;  ///< index into LoweredProgram::codelets
  std::vector<Launch> launches;
  std::uint64_t flops = 0;
  std::vector<BufferId> reads, writes;
  std::uint32_t beside = 0;  ///< following sets of the superstep that may run at once with this one
};

/// Words that move between buffers; offsets are bytes from the interval's start on the tile.
struct Movement {
  struct End {
    BufferId buffer{};
    TileId tile{};
    std::uint32_t byte = 0;
    auto operator<=>(const End&) const = default;
  };
  End source;
  std::vector<End> destinations;
  std::uint32_t words = 0;
};

/// An exchange phase (none when nothing moves), then compute sets in order.
struct Superstep {
  std::vector<std::string> names;  ///< of the ops whose operands move
  std::string operation;
  OpLocation source;
  std::vector<Movement> movements;
  std::vector<ComputeSet> computes;
};

/// A program over buffers: everything but addresses and machine code.
struct LoweredProgram {
  std::vector<Buffer> buffers;
  std::vector<CodeletSpec> codelets;
  std::vector<Superstep> supersteps;
  std::vector<std::optional<BufferId>> arguments;  ///< empty for an argument without elements
  std::vector<std::optional<BufferId>> results;
};

}  // namespace superstep
