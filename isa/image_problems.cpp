#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>

#include "isa/program_image.h"

namespace superstep {
namespace {

/// More than a host addresses.
constexpr std::uint64_t kMostTensorBytes = std::uint64_t{1} << 48;

/// The bytes of a tensor; none when its element type or its shape is no such thing.
std::optional<std::uint64_t> bytes_of(const TensorType& type) {
  if (static_cast<std::size_t>(type.dtype) >= kAllDTypes.size()) return std::nullopt;
  std::uint64_t bytes = size_of(type.dtype);
  for (const std::int64_t extent : type.shape) {
    if (extent < 0) return std::nullopt;
    // Also of an empty one, so that the product of its extents is a number in any order.
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1));
    if (factor > kMostTensorBytes / bytes) return std::nullopt;
    bytes *= factor;
  }
  return type.bytes();
}

/// The first and one past the last byte that a box touches.
struct Extent {
  std::int64_t begin = 0, end = 0;
};

/// What a box touches on one of its sides, whose strides are `stride`; none when that overflows.
std::optional<Extent> extent_of(const StreamBox& box, std::uint64_t offset,
                                std::int64_t StreamBox::Axis::*stride) {
  Extent extent{static_cast<std::int64_t>(offset), static_cast<std::int64_t>(offset)};
  if (extent.begin < 0) return std::nullopt;
  for (const StreamBox::Axis& axis : box.axes) {
    std::int64_t way = 0;
    if (__builtin_mul_overflow(axis.*stride, std::int64_t{axis.count} - 1, &way)) return {};
    std::int64_t& side = way < 0 ? extent.begin : extent.end;
    if (__builtin_add_overflow(side, way, &side)) return std::nullopt;
  }
  if (__builtin_add_overflow(extent.end, std::int64_t{box.bytes}, &extent.end)) return std::nullopt;
  return extent;
}

bool is_within(const std::optional<Extent>& extent, std::uint64_t bytes) {
  return extent && extent->begin >= 0 && static_cast<std::uint64_t>(extent->end) <= bytes;
}

/// The bytes that a box copies; none when it copies nothing or more than `most`.
std::optional<std::uint64_t> copied_bytes(const StreamBox& box, std::uint64_t most) {
  std::uint64_t bytes = box.bytes;
  for (const StreamBox::Axis& axis : box.axes) {
    if (axis.count == 0 || bytes > most / axis.count) return std::nullopt;
    bytes *= axis.count;
  }
  if (bytes == 0 || bytes > most) return std::nullopt;
  return bytes;
}

class ImageCheck {
 public:
  explicit ImageCheck(const ProgramImage& image) : image_(image), info_(image.info) {
    for (const BrokenRule& rule : superstep::problems(image.machine)) add(rule.message);
    // What else there is has to fit the machine.
    if (!found_.empty()) return;
    has_entry_.resize(image.machine.tiles());
    check_tiles();
    check_tensors();
    check_streams();
    check_visits();
    check_steps();
    check_memory();
    check_marks();
  }

  [[nodiscard]] std::vector<Problem> take() { return std::move(found_); }

 private:
  void add(std::string message) { found_.push_back({{}, std::move(message)}); }

  /// `rule` says what is wrong with a row of a table, if anything is.
  template <class Row, class Rule>
  void each(const char* table, const std::vector<Row>& rows, const Rule& rule) {
    std::string first;
    std::size_t broken = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string wrong = rule(rows[i], i);
      if (!wrong.empty() && broken++ == 0) first = fmt::format("{}[{}]: {}", table, i, wrong);
    }
    if (broken == 0) return;
    add(broken == 1 ? first : fmt::format("{}, and {} more like it", first, broken - 1));
  }

  /// An index into a table of so many rows.
  static std::string index_problem(const char* what, std::uint64_t index, std::size_t rows) {
    return index < rows ? "" : fmt::format("{} {} of {}", what, index, rows);
  }
  [[nodiscard]] std::string tile_problem(std::uint32_t tile) const {
    return index_problem("tile", tile, has_entry_.size());
  }
  [[nodiscard]] std::string entry_problem(TileId tile) const {
    if (index(tile) < has_entry_.size() && has_entry_[index(tile)]) return {};
    return fmt::format("tile {} has no program", index(tile));
  }
  [[nodiscard]] std::string memory_problem(std::uint32_t address, std::uint64_t bytes) const {
    const std::uint64_t base = image_.machine.tile.memory_base, end = image_.machine.memory_end();
    if (address >= base && address <= end && bytes <= end - address) return {};
    return fmt::format("{} B at {:#x} are not in tile memory, {:#x} to {:#x}", bytes, address, base,
                       end);
  }

  void check_tiles() {
    each("segments", image_.segments, [&](const Segment& segment, std::size_t) -> std::string {
      const std::vector<TileId>& tiles = segment.tiles;
      if (std::ranges::adjacent_find(tiles, std::ranges::greater_equal{}) != tiles.end()) {
        return "its tiles do not ascend";
      }
      if (!tiles.empty() && index(tiles.back()) >= has_entry_.size()) {
        return tile_problem(index(tiles.back()));
      }
      return memory_problem(segment.address, segment.bytes.size());
    });
    each("entries", image_.entries, [&](const TileEntry& entry, std::size_t i) -> std::string {
      if (i > 0 && entry.tile <= image_.entries[i - 1].tile) return "its tiles do not ascend";
      if (index(entry.tile) >= has_entry_.size()) return tile_problem(index(entry.tile));
      has_entry_[index(entry.tile)] = true;
      return memory_problem(entry.pc, 4);
    });
  }

  void check_tensors() {
    const auto rule = [](const TensorType& type, std::size_t) -> std::string {
      if (bytes_of(type)) return {};
      return fmt::format("no tensor has its element type, number {}, and its shape",
                         static_cast<unsigned>(type.dtype));
    };
    each("arguments", image_.arguments, rule);
    each("results", image_.results, rule);
    each("info/tensors", info_.tensors,
         [&](const TensorInfo& tensor, std::size_t i) { return rule(tensor.type, i); });
    if (!image_.alias.empty() && image_.alias.size() != image_.results.size()) {
      add(fmt::format("alias has {} rows for {} results", image_.alias.size(),
                      image_.results.size()));
    }
    each("alias", image_.alias,
         [&](const std::optional<std::uint32_t>& argument, std::size_t) -> std::string {
           return argument ? index_problem("argument", *argument, image_.arguments.size()) : "";
         });
  }

  void check_streams() {
    std::vector<std::uint64_t> brought(image_.results.size());
    each("streams", image_.streams, [&](const Stream& stream, std::size_t) -> std::string {
      if (stream.kind > Stream::Kind::kOutfeed) {
        return fmt::format("there is no kind {}", static_cast<unsigned>(stream.kind));
      }
      const bool is_result = stream.kind == Stream::Kind::kResult;
      const std::vector<TensorType>& types = is_result ? image_.results : image_.arguments;
      if (is_result || stream.kind == Stream::Kind::kArgument) {
        if (stream.position >= types.size()) {
          return index_problem(is_result ? "result" : "argument", stream.position, types.size());
        }
        if (stream.type != types[stream.position]) {
          return fmt::format("its type is not that of {} {}", is_result ? "result" : "argument",
                             stream.position);
        }
      }
      const auto first = std::ranges::find_if(image_.streams, [&](const Stream& other) {
        return other.kind == stream.kind && other.position == stream.position;
      });
      if (first->type != stream.type) {
        return fmt::format("its type is not that of stream {}, which has its position",
                           first - image_.streams.begin());
      }
      const std::optional<std::uint64_t> bytes = bytes_of(stream.type);
      if (!bytes) return "its type is that of no tensor";
      std::uint64_t copied = 0;
      for (const StreamPiece& piece : stream.pieces) {
        std::string wrong = piece_problem(piece, *bytes);
        if (!wrong.empty()) return wrong;
        for (const StreamBox& box : piece.boxes) copied += *copied_bytes(box, piece.bytes);
      }
      if (is_result) brought[stream.position] += copied;
      const bool is_whole = stream.kind == Stream::Kind::kArgument || is_result ||
                            stream.kind == Stream::Kind::kInfeed || copied >= *bytes;
      return is_whole ? "" : fmt::format("it copies {} of its {} B", copied, *bytes);
    });
    // So no result takes more of the host than there is on tiles.
    each("results", image_.results, [&](const TensorType& type, std::size_t r) -> std::string {
      const std::optional<std::uint64_t> bytes = bytes_of(type);
      if (!bytes || brought[r] >= *bytes) return {};
      return fmt::format("streams bring {} of its {} B", brought[r], *bytes);
    });
  }

  [[nodiscard]] std::string piece_problem(const StreamPiece& piece,
                                          std::uint64_t tensor_bytes) const {
    std::string wrong = entry_problem(piece.tile);
    if (wrong.empty()) wrong = memory_problem(piece.address, piece.bytes);
    if (!wrong.empty()) return "a piece: " + wrong;
    if (piece.bytes % 4 != 0 || piece.address % 4 != 0) return "a piece is not of whole words";
    std::uint64_t room = piece.bytes;
    for (const StreamBox& box : piece.boxes) {
      const std::optional<std::uint64_t> copied = copied_bytes(box, room);
      if (!copied) return "the boxes of a piece copy nothing, or more than it has";
      room -= *copied;
      using Axis = StreamBox::Axis;
      if (!is_within(extent_of(box, box.piece_offset, &Axis::piece_stride), piece.bytes)) {
        return "a box lies past its piece";
      }
      if (!is_within(extent_of(box, box.host_offset, &Axis::host_stride), tensor_bytes)) {
        return "a box lies past its tensor";
      }
    }
    return {};
  }

  /// `kinds` may go in this direction at this visit.
  [[nodiscard]] std::string visit_problem(std::uint32_t stream,
                                          std::initializer_list<Stream::Kind> kinds) const {
    if (stream >= image_.streams.size()) {
      return index_problem("stream", stream, image_.streams.size());
    }
    const bool goes = std::ranges::find(kinds, image_.streams[stream].kind) != kinds.end();
    return goes ? "" : fmt::format("stream {} is of a kind that does not go there", stream);
  }

  /// What a visit has brought to the tiles so far: the kinds and positions of streams.
  using Brought = std::set<std::pair<Stream::Kind, std::uint32_t>>;

  /// Likewise, of a stream to the tiles, which takes the one value that its position has.
  [[nodiscard]] std::string arrival_problem(std::uint32_t stream,
                                            std::initializer_list<Stream::Kind> kinds,
                                            Brought& brought) const {
    std::string wrong = visit_problem(stream, kinds);
    if (!wrong.empty()) return wrong;
    const Stream& arrives = image_.streams[stream];
    if (brought.emplace(arrives.kind, arrives.position).second) return {};
    return fmt::format("stream {} takes a second value of position {}: a visit brings one", stream,
                       arrives.position);
  }

  void check_visits() {
    using Kind = Stream::Kind;
    const auto arrivals = [&](const char* table, const std::vector<std::uint32_t>& streams) {
      Brought brought;
      each(table, streams, [&](std::uint32_t stream, std::size_t) {
        return arrival_problem(stream, {Kind::kArgument, Kind::kGoesOn}, brought);
      });
    };
    const auto results = [&](const char* table, const std::vector<std::uint32_t>& streams) {
      each(table, streams, [&](std::uint32_t stream, std::size_t) {
        return visit_problem(stream, {Kind::kResult});
      });
    };
    arrivals("first/arguments", image_.first.arguments);
    results("next/results", image_.next.results);
    arrivals("next/arguments", image_.next.arguments);
    results("last/results", image_.last.results);
    each("visits", image_.visits, [&](const FeedVisit& inside, std::size_t) {
      std::string wrong = memory_problem(inside.pc, 4);
      Brought brought;
      for (const std::uint32_t stream : inside.phase.arguments) {
        if (wrong.empty()) wrong = arrival_problem(stream, {Kind::kInfeed}, brought);
      }
      for (const std::uint32_t stream : inside.phase.results) {
        if (wrong.empty()) wrong = visit_problem(stream, {Kind::kOutfeed});
      }
      return wrong;
    });
    if (!image_.first.results.empty()) add("first/results: there are none before the first call");
    if (!image_.last.arguments.empty()) add("last/arguments: nobody takes any after the last call");
  }

  void check_steps() {
    const std::vector<StepInfo>& steps = info_.steps;
    each("info/steps", steps, [&](const StepInfo& step, std::size_t s) -> std::string {
      using Kind = StepInfo::Kind;
      const bool is_kind = step.kind <= Kind::kHost || step.is_control();
      if (!is_kind || step.kind > Kind::kArm) {
        return fmt::format("there is no kind {}", static_cast<unsigned>(step.kind));
      }
      if (step.kind == Kind::kArm && !step.parent) return "an arm of no branch";
      if (step.parent) {
        if (*step.parent >= s) return "it does not follow the step that executes it";
        const Kind parent = steps[*step.parent].kind;
        const bool is_parent = step.kind == Kind::kArm
                                   ? parent == Kind::kBranch
                                   : parent == Kind::kLoop || parent == Kind::kArm;
        if (!is_parent) return fmt::format("step {} does not execute others", *step.parent);
      }
      if (step.superstep && *step.superstep > steps.size()) {
        return fmt::format("superstep {} of {} steps", *step.superstep, steps.size());
      }
      for (const std::uint32_t type : step.vertex_types) {
        if (type >= info_.vertex_types.size()) {
          return index_problem("vertex type", type, info_.vertex_types.size());
        }
      }
      return {};
    });
    each("info/codelets", info_.codelets, [&](const CodeletPlace& place, std::size_t) {
      std::string wrong =
          index_problem("vertex type", place.vertex_type, info_.vertex_types.size());
      for (const TileId tile : place.tiles) {
        if (wrong.empty()) wrong = entry_problem(tile);
      }
      if (wrong.empty() && !std::ranges::is_sorted(place.tiles)) wrong = "its tiles do not ascend";
      return wrong;
    });
    each("info/exchanges", info_.exchanges, [&](const ExchangeInfo& exchange, std::size_t) {
      std::string wrong = index_problem("step", exchange.step, steps.size());
      for (const ExchangeMessage& message : exchange.messages) {
        if (!wrong.empty()) break;
        wrong = tile_problem(std::max(message.source_tile, message.destination_tile));
      }
      return wrong;
    });
    each("info/events", info_.events, [&](const CompileEvent& event, std::size_t) -> std::string {
      if (event.kind <= CompileEvent::Kind::kWideEncoding) return {};
      return fmt::format("there is no kind {}", static_cast<unsigned>(event.kind));
    });
  }

  void check_memory() {
    const std::size_t tiles = has_entry_.size(), steps = info_.steps.size();
    each("info/memory", info_.memory, [&](const MemoryCategory& category, std::size_t) {
      const std::size_t rows = category.bytes_by_tile.size();
      return rows <= tiles ? std::string() : fmt::format("bytes of {} tiles of {}", rows, tiles);
    });
    if (info_.step_memory.size() > steps) {
      add(fmt::format("info/step_memory has {} rows for {} steps", info_.step_memory.size(),
                      steps));
    }
    each("info/step_memory", info_.step_memory,
         [&](const StepMemory& memory, std::size_t) { return tile_problem(memory.peak_tile); });
    if (info_.tile_peaks.size() > tiles) {
      add(fmt::format("info/tile_peaks has {} rows for {} tiles", info_.tile_peaks.size(), tiles));
    }
    each("info/tile_peaks", info_.tile_peaks, [&](const TilePeak& peak, std::size_t) {
      return index_problem("step", peak.step, std::max<std::size_t>(steps, 1));
    });
  }

  void check_marks() {
    const auto rule = [&](const StepMark& mark, std::size_t) {
      const std::string wrong = entry_problem(mark.tile);
      return wrong.empty() ? index_problem("step", mark.step, info_.steps.size()) : wrong;
    };
    each("marks", image_.marks, rule);
    each("calls", image_.calls, rule);
    each("loops", image_.loops, rule);
  }

  const ProgramImage& image_;
  const ProgramInfo& info_;
  std::vector<bool> has_entry_;  ///< by tile
  std::vector<Problem> found_;
};

}  // namespace

std::vector<Problem> problems(const ProgramImage& image) { return ImageCheck(image).take(); }

}  // namespace superstep
