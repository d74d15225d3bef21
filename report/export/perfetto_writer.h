#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/export/format.h"
#include "report/export/protobuf.h"

namespace superstep {

/// Something that a slice says of itself.
struct PerfettoArgument {
  std::string_view name;
  std::variant<std::uint64_t, double, std::string_view> value;
};

/// An end of an arrow between two slices: the earlier one begins it.
struct PerfettoFlow {
  std::uint64_t number = 0;
  bool ends = false;
};

/// Writes a trace of Perfetto as packets of one sequence: tracks, then what happens on them. What
/// happens on a track is told in the order of time; a slice begins and ends inside of the one that
/// is open.
class PerfettoWriter {
 public:
  using Track = std::uint64_t;

  explicit PerfettoWriter(const ExportSink& sink) : sink_(sink) {}

  /// A fact about the whole trace.
  void attribute(std::string_view key, std::string_view text);
  /// A track, behind its siblings that there are.
  Track track(std::string_view name, Track parent = 0, std::string_view description = {});
  /// A track of numbers in a unit.
  Track counter(std::string_view name, Track parent, std::string_view unit);

  void begin(Track track, std::uint64_t at, std::string_view name,
             std::span<const PerfettoArgument> arguments = {},
             std::span<const PerfettoFlow> flows = {});
  void end(Track track, std::uint64_t at);
  void instant(Track track, std::uint64_t at, std::string_view name,
               std::span<const PerfettoArgument> arguments = {});
  /// What a counter has from a time on.
  void count(Track track, std::uint64_t at, std::uint64_t value);
  void count(Track track, std::uint64_t at, double value);

  /// Slices that were begun.
  [[nodiscard]] std::uint64_t slices() const { return slices_; }

 private:
  /// Strings that packets name by number; each is written with the first that does.
  struct Names {
    unsigned field;  ///< of InternedData
    std::map<std::string, std::uint64_t, std::less<>> numbers = {};
  };

  Track describe(std::string_view name, Track parent, std::string_view description,
                 const ProtoMessage* counter);
  std::uint64_t number_of(Names& names, std::string_view name, ProtoMessage& interned);
  void add_arguments(ProtoMessage& event, std::span<const PerfettoArgument> arguments,
                     ProtoMessage& interned);
  void write_event(std::uint64_t at, const ProtoMessage& event, const ProtoMessage& interned);
  void write(ProtoMessage packet);

  const ExportSink& sink_;
  Names events_{2}, arguments_{3};
  std::uint64_t tracks_ = 0, slices_ = 0;
  std::map<Track, std::uint64_t> children_;
  bool is_begun_ = false;
};

}  // namespace superstep
