#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "compiler/program/layout.h"
#include "compiler/vertex/scalars.h"
#include "compiler/vertex/vertex.h"
#include "compiler/vertex/vertex_state.h"
#include "isa/compile_event.h"
#include "isa/fused_operation.h"
#include "isa/op_location.h"

namespace superstep {

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
  std::vector<std::byte> contents;  ///< what boot writes: the elements, dense
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
  std::vector<FusedOperation> fused = {};  ///< where there are several, in order
  std::uint32_t codelet = 0;               ///< index into LoweredProgram::codelets
  std::vector<Launch> launches;
  std::uint64_t flops = 0;
  std::vector<BufferId> reads, writes;
  std::uint32_t beside = 0;  ///< following sets of the superstep that may run at once with this one
};

/// Words that move between buffers; offsets are bytes from the interval's start on the tile.
struct Movement {  // NOLINT(bugprone-exception-escape): one end is moved without an allocation
  struct End {
    BufferId buffer{};
    TileId tile{};
    std::uint32_t byte = 0;
    auto operator<=>(const End&) const = default;
  };
  End source;
  boost::container::small_vector<End, 1> destinations;
  std::uint32_t words = 0;
};

/// A tensor that a visit to the host moves while a call goes on; one without elements has no
/// buffer.
struct Feed {
  bool is_in = false;        ///< from the host to tiles
  std::uint32_t stream = 0;  ///< among those of its direction
  std::optional<BufferId> buffer = {};
};

/// An exchange phase (none when nothing moves), then compute sets in order. Where there are feeds
/// it is a visit to the host, and nothing else.
struct Superstep {
  /// The ops whose operands move, each once; of a visit to the host its own.
  std::vector<FusedOperation> moved_for;
  std::vector<Movement> movements;
  std::vector<ComputeSet> computes;
  std::vector<Feed> feeds = {};
};

enum class ProcedureId : std::uint32_t {};
constexpr std::uint32_t index(ProcedureId p) { return static_cast<std::uint32_t>(p); }

/// The op that a step serves.
struct Origin {
  std::string name;
  std::string operation;
  OpLocation source;
  std::vector<FusedOperation> fused = {};  ///< in it, where they are several
};

/// How a report names the steps of a superstep.
struct SuperstepOrigins {
  Origin exchange = {};
  std::vector<Origin> computes = {};
};

/// Executes a procedure. An actual buffer takes the place of its formal one and lies where that
/// lies, so that nothing is copied; the two are never in use at once.
struct Call {
  struct Binding {
    BufferId formal{}, actual{};
    auto operator<=>(const Binding&) const = default;
  };
  ProcedureId procedure{};
  std::vector<Binding> bindings;          ///< ascending formals; others stand for themselves
  std::vector<SuperstepOrigins> origins;  ///< by superstep of the procedure
  std::vector<Origin> controls = {};      ///< of its loops and branches, outer ones first
};

struct Step;
/// Steps in order.
struct Block {
  std::vector<Step> steps;
};
/// Executes `entry`, then, as long as the last decision is not 0, `body` and `step`. Decisions are
/// those of `entry` and `step`, or, where there is a `condition`, those of `test`, in front of
/// which it is executed each time. Every tile that takes part has the words of all scalars.
struct Loop {
  vertex::Scalars entry;
  Block condition;
  vertex::Scalars test;
  Block body;
  vertex::Scalars step;
  Origin origin = {};

  [[nodiscard]] bool has_condition() const { return test.decision.has_value(); }
};
/// A visit to the host between calls, which takes results, then sends arguments.
struct HostVisit {
  enum class Kind : std::uint8_t {
    kFirst,  ///< no results yet
    kNext,   ///< between two calls; what the program keeps from call to call stays
    kLast,   ///< all results, no arguments
  };
  Kind kind = Kind::kFirst;
};
/// Executes the arm that `selector` decides for; its decision is less than their number. Every tile
/// that takes part has the words of the scalars.
struct Branch {
  vertex::Scalars selector;
  std::vector<Block> arms;
  Origin origin = {};
};
struct Step : std::variant<Superstep, Call, Loop, Branch, HostVisit> {
  using variant::variant;
};

/// Steps that are there once, however often they are called; none is a call. The first superstep
/// has an exchange of its own, or goes on with what comes before the call.
struct Procedure {
  Block block;
  std::vector<BufferId> formals;  ///< ascending
};
/// A product as it was planned, for who must plan it again because the program does not fit.
struct PlannedProduct {
  bool on_amp = false;
  std::int64_t cycles = 0;         ///< estimated, from its operands to its result
  std::int64_t region0_bytes = 0;  ///< of its operands on a tile
  std::vector<BufferId> buffers;   ///< on the AMP: of operands and products
};

/// A product that must do with less room on tiles than it would take.
struct SqueezedProduct {
  std::int64_t region0_bytes = 0;  ///< most of its operands; 0: it stays off the AMP units
  std::string reason;              ///< why
};
/// By number of the product, in order of ops.
using SqueezedProducts = std::map<std::size_t, SqueezedProduct>;

/// A program over buffers: everything but addresses and machine code. Its main block is what a call
/// does, until `add_call_loop` puts the visits to the host and the loop over calls around it.
struct LoweredProgram {
  std::vector<Buffer> buffers;
  std::vector<vertex::Vertex> codelets;
  std::vector<Procedure> procedures;
  Block main;
  std::vector<std::optional<BufferId>> arguments;  ///< empty for an argument without elements
  std::vector<std::optional<BufferId>> results;
  /// With a call loop: a word on every tile, 1 until the host sends 0 with the arguments of the
  /// last call.
  std::optional<BufferId> goes_on;
  std::vector<PlannedProduct> products;  ///< in order of ops
  std::vector<CompileEvent> events;
};

}  // namespace superstep
