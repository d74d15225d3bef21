#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/poplibs/entry.h"

namespace superstep::poplibs {

/// Bytes at an address of tile memory.
struct Block {
  std::uint32_t address = 0;
  std::vector<std::uint8_t> bytes;
};

/// One connected vector, or the value of an unconnected field.
struct Row {
  std::vector<std::uint8_t> bytes;  ///< as before the run
  std::uint32_t address = 0;        ///< in tile memory
};

/// The values of one field.
struct FieldState {
  const Field* field = nullptr;
  std::vector<Row> rows;            ///< one, but for vectors of vectors
  std::size_t misalign = 0;         ///< bytes that vectors start after the alignment they ask for
  double tolerance = -1;            ///< relative to the largest result; negative: by type
  std::size_t compared = SIZE_MAX;  ///< elements of each row that are results
  double magnitude = 0;             ///< what results are compared relative to at least
  bool compare = true;
  /// Of elements on the device where the host's type is wider; 0 where they are the same.
  std::size_t device_bytes = 0;
};

/// A multivertex that runs before or after the one of the case.
struct OtherCall {
  std::string symbol;
  std::vector<std::uint8_t> state;  ///< and what it points to
};

struct DeviceResult;

/// One run of a vertex: values of all fields, for the C++ codelet and for the simulated tile.
class Case {
 public:
  Case(const Entry& entry, std::uint64_t seed);

  [[nodiscard]] const Entry& entry() const { return entry_; }
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] FieldState& state(std::string_view name);
  [[nodiscard]] const std::vector<FieldState>& states() const { return states_; }

  /// Sets a value field.
  void value(std::string_view name, double number);
  /// Gives a field rows of random elements of [low, high].
  void random(std::string_view name, const std::vector<std::size_t>& sizes, double low,
              double high);
  /// Gives a field one row of these elements.
  void elements(std::string_view name, const std::vector<double>& numbers);
  void element_rows(std::string_view name, const std::vector<std::vector<double>>& rows);
  [[nodiscard]] double element(const FieldState& state, const std::vector<std::uint8_t>& bytes,
                               std::size_t index) const;
  /// The bytes of a number as an element of a field.
  [[nodiscard]] std::vector<std::uint8_t> encoded(const Field& field, double number) const;
  [[nodiscard]] std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }

  /// Places everything in tile memory; then the blocks to write and the address of vertex state.
  void place();
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] std::uint32_t state_address() const { return kState; }

  /// Rows of a case of whole vectors of 8 bytes, as many for each worker and in each row; else 0.
  std::size_t whole_rows = 0;
  [[nodiscard]] bool whole() const { return whole_rows != 0; }
  std::optional<OtherCall> before, after;
  static constexpr std::uint32_t kBefore = 0x71000;  ///< where its state lies
  static constexpr std::uint32_t kAfter = 0x71200;
  /// Symbols of both.
  [[nodiscard]] std::vector<std::string> calls_around() const;
  /// Where the C++ codelet is no reference: the first difference from what should be there, or
  /// nothing.
  std::function<std::string(const DeviceResult&)> check;

  /// Runs the C++ codelet; the rows as it leaves them, by field.
  [[nodiscard]] std::vector<std::vector<std::vector<std::uint8_t>>> run_host() const;

 private:
  static constexpr std::uint32_t kState = 0x70000;   ///< vertex state
  static constexpr std::uint32_t kTables = 0x72000;  ///< pointers of vectors of vectors

  void put(FieldState& state, const std::vector<std::vector<double>>& rows);

  const Entry& entry_;
  std::vector<FieldState> states_;
  std::vector<Block> blocks_;
  std::mt19937_64 random_;
};

}  // namespace superstep::poplibs
