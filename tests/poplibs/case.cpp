#include "tests/poplibs/case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "base/float16.h"

namespace superstep::poplibs {
namespace {

constexpr std::uint32_t kRegion0Data = 0x74000;
constexpr std::uint32_t kRegion1 = 0x80000;
constexpr std::uint32_t kElement = 0x8000;  // an interleaved pair of memory elements
constexpr std::uint32_t kMemoryEnd = 0xe8000;
constexpr std::size_t kHostSlack = 64;  // C++ codelets may look a vector ahead

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void append(std::vector<std::uint8_t>& bytes, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
}

/// On Mk2 a compact pointer is a whole one: PopLibs' assembly loads 32 bits wherever the 16-bit
/// layouts of Mk1 are not available.
Layout resolved(Layout layout) { return layout == Layout::kCompact ? Layout::kOnePointer : layout; }

std::size_t layout_alignment(Layout layout) {
  return layout == Layout::kScaled32 || layout == Layout::kScaled64 || layout == Layout::kScaled128
             ? 2
             : 4;
}

void append_vector(std::vector<std::uint8_t>& bytes, Layout layout, std::uint32_t address,
                   std::size_t count) {
  switch (layout) {
    case Layout::kSpan:
      append(bytes, address, 4);
      append(bytes, count, 4);
      return;
    case Layout::kShortSpan:
      append(bytes, address | count << 20, 4);
      return;
    case Layout::kScaled32:
      append(bytes, (address - 0x4c000) >> 2, 2);
      return;
    case Layout::kScaled64:
      append(bytes, address >> 3, 2);
      return;
    case Layout::kScaled128:
      append(bytes, address >> 4, 2);
      return;
    default:
      append(bytes, address, 4);
      return;
  }
}

/// Elements as wide as the device has them.
std::vector<std::uint8_t> on_device(const FieldState& state,
                                    const std::vector<std::uint8_t>& bytes) {
  if (state.device_bytes == 0) return bytes;
  std::vector<std::uint8_t> narrow;
  for (std::size_t i = 0; i < bytes.size(); i += state.field->element_bytes) {
    narrow.insert(narrow.end(), bytes.begin() + static_cast<std::ptrdiff_t>(i),
                  bytes.begin() + static_cast<std::ptrdiff_t>(i + state.device_bytes));
  }
  return narrow;
}

}  // namespace

Case::Case(const Entry& entry, std::uint64_t seed) : entry_(entry), random_(seed) {
  for (const Field& field : entry.fields) {
    FieldState state;
    state.field = &field;
    if (field.shape == Shape::kValue) {
      state.rows.push_back({std::vector<std::uint8_t>(field.element_bytes), 0});
    }
    states_.push_back(state);
  }
}

bool Case::has(std::string_view name) const {
  return std::any_of(states_.begin(), states_.end(),
                     [&](const FieldState& state) { return state.field->name == name; });
}

FieldState& Case::state(std::string_view name) {
  for (FieldState& state : states_) {
    if (state.field->name == name) return state;
  }
  throw std::runtime_error(entry_.type + " has no field " + std::string(name));
}

std::vector<std::uint8_t> Case::encoded(const Field& field, double number) const {
  std::vector<std::uint8_t> bytes;
  switch (field.element) {
    case Element::kFloat:
      append(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4);
      break;
    case Element::kHalf:
      append(bytes, portable_half_bits(static_cast<float>(number)), 2);
      break;
    case Element::kBool:
      append(bytes, number != 0 ? 1 : 0, 1);
      break;
    default:
      append(bytes,
             number < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                        : static_cast<std::uint64_t>(number),
             field.element_bytes);
  }
  return bytes;
}

double Case::element(const FieldState& state, const std::vector<std::uint8_t>& bytes,
                     std::size_t index) const {
  const Field& field = *state.field;
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * field.element_bytes,
              std::min<std::size_t>(field.element_bytes, 8));
  switch (field.element) {
    case Element::kFloat:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Element::kHalf:
      return portable_float_of_half(static_cast<std::uint16_t>(bits));
    case Element::kSigned: {
      const auto shift = static_cast<int>(64 - 8 * field.element_bytes);
      return static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift);
    }
    default:
      return static_cast<double>(bits);
  }
}

void Case::put(FieldState& state, const std::vector<std::vector<double>>& rows) {
  state.rows.clear();
  for (const std::vector<double>& row : rows) {
    Row put;
    for (const double number : row) {
      const std::vector<std::uint8_t> bytes = encoded(*state.field, number);
      put.bytes.insert(put.bytes.end(), bytes.begin(), bytes.end());
    }
    state.rows.push_back(put);
  }
}

void Case::value(std::string_view name, double number) { put(state(name), {{number}}); }

void Case::elements(std::string_view name, const std::vector<double>& numbers) {
  put(state(name), {numbers});
}

void Case::element_rows(std::string_view name, const std::vector<std::vector<double>>& rows) {
  put(state(name), rows);
}

void Case::random(std::string_view name, const std::vector<std::size_t>& sizes, double low,
                  double high) {
  FieldState& to = state(name);
  const bool integer = to.field->element != Element::kFloat && to.field->element != Element::kHalf;
  std::vector<std::vector<double>> rows;
  for (const std::size_t size : sizes) {
    std::vector<double> row;
    for (std::size_t i = 0; i < size; ++i) {
      const double unit = static_cast<double>(random_() >> 11) * 0x1p-53;
      row.push_back(integer ? low + std::floor(unit * (high - low + 1))
                            : low + unit * (high - low));
    }
    rows.push_back(row);
  }
  put(to, rows);
}

void Case::place() {
  blocks_.clear();
  std::vector<std::uint8_t> state_bytes;
  std::uint32_t table = kTables;
  std::uint32_t arena = 0;
  std::uint32_t region0 = kRegion0Data;
  for (FieldState& state : states_) {
    const Field& field = *state.field;
    if (field.shape == Shape::kValue) {
      const std::vector<std::uint8_t> bytes = on_device(state, state.rows.at(0).bytes);
      state_bytes.resize(round_up(state_bytes.size(), state.device_bytes != 0
                                                          ? state.device_bytes
                                                          : field.element_alignment));
      state_bytes.insert(state_bytes.end(), bytes.begin(), bytes.end());
      continue;
    }
    // Each field has a memory element of its own while there are any.
    std::size_t total = 0;
    const std::size_t alignment =
        std::max<std::size_t>({8, field.alignment, field.element_alignment});
    for (const Row& row : state.rows) total += round_up(row.bytes.size() + alignment, alignment);
    std::uint32_t at = kRegion1 + arena;
    if (at + total > kMemoryEnd) {
      at = static_cast<std::uint32_t>(round_up(region0, 16));
      region0 = at + static_cast<std::uint32_t>(total) + 64;
      if (region0 > kRegion1) throw std::runtime_error("the case does not fit the tile");
    } else {
      arena += static_cast<std::uint32_t>(round_up(total + 64, kElement));
    }
    for (Row& row : state.rows) {
      at = static_cast<std::uint32_t>(round_up(at, alignment) + state.misalign);
      row.address = at;
      // What lies behind a vector is not zero.
      Block block{at, on_device(state, row.bytes)};
      block.bytes.resize(round_up(row.bytes.size() + 8, 8), 0x55);
      blocks_.push_back(block);
      at += static_cast<std::uint32_t>(row.bytes.size());
    }
    const auto table_block = [&](const std::vector<std::uint8_t>& bytes) {
      const std::uint32_t address = table;
      blocks_.push_back({address, bytes});
      table += static_cast<std::uint32_t>(round_up(bytes.size() + 8, 8));
      return address;
    };
    const auto count = [&](const Row& row) { return row.bytes.size() / field.element_bytes; };
    switch (field.shape) {
      case Shape::kPointer:
      case Shape::kVector: {
        const Layout layout =
            field.shape == Shape::kPointer ? Layout::kOnePointer : resolved(field.layout);
        state_bytes.resize(round_up(state_bytes.size(), layout_alignment(layout)));
        append_vector(state_bytes, layout, state.rows.at(0).address, count(state.rows.at(0)));
        break;
      }
      case Shape::kVectors: {
        std::vector<std::uint8_t> bytes;
        const Layout inner = resolved(field.inner_layout);
        for (const Row& row : state.rows) append_vector(bytes, inner, row.address, count(row));
        const Layout layout = resolved(field.layout);
        state_bytes.resize(round_up(state_bytes.size(), layout_alignment(layout)));
        append_vector(state_bytes, layout, table_block(bytes), state.rows.size());
        break;
      }
      case Shape::kVectorList: {
        const std::uint32_t base = state.rows.at(0).address;
        // Offsets count what the vectors are aligned to, up to 8 bytes.
        const std::size_t unit = std::clamp<std::size_t>(field.alignment, field.element_bytes, 8);
        const auto offset_bits = static_cast<unsigned>(21 - std::countr_zero(unit));
        std::vector<std::uint8_t> bytes;
        for (const Row& row : state.rows) {
          append(bytes, (row.address - base) / unit | count(row) << offset_bits, 4);
        }
        const std::uint32_t deltas = table_block(bytes);
        state_bytes.resize(round_up(state_bytes.size(), 4));
        // The high byte of the number of vectors comes first.
        append(state_bytes, base | state.rows.size() >> 8 << 24, 4);
        append(state_bytes, deltas | (state.rows.size() & 0xff) << 24, 4);
        break;
      }
      case Shape::kValue:
        break;
    }
  }
  state_bytes.resize(round_up(state_bytes.size(), 8));
  blocks_.push_back({kState, state_bytes});
  if (before) blocks_.push_back({kBefore, before->state});
  if (after) blocks_.push_back({kAfter, after->state});
}

std::vector<std::string> Case::calls_around() const {
  std::vector<std::string> symbols;
  for (const std::optional<OtherCall>& call : {before, after}) {
    if (call) symbols.push_back(call->symbol);
  }
  return symbols;
}

std::vector<std::vector<std::vector<std::uint8_t>>> Case::run_host() const {
  std::vector<std::uint64_t> storage(entry_.host_bytes / 8 + 2);
  auto* vertex = reinterpret_cast<std::uint8_t*>(storage.data());
  std::vector<std::vector<std::vector<std::uint64_t>>> memory;
  std::vector<std::vector<HostEdge>> inner;
  static const unsigned char kMetadata = 0;
  for (const FieldState& state : states_) {
    std::vector<std::vector<std::uint64_t>>& rows = memory.emplace_back();
    std::vector<HostEdge>& edges = inner.emplace_back();
    for (const Row& row : state.rows) {
      std::vector<std::uint64_t>& words = rows.emplace_back((row.bytes.size() + kHostSlack) / 8);
      std::memcpy(words.data(), row.bytes.data(), row.bytes.size());
      edges.push_back({words.data(), row.bytes.size() / state.field->element_bytes, &kMetadata});
    }
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Field& field = *states_[i].field;
    std::uint8_t* at = vertex + field.host_offset;
    if (field.shape == Shape::kValue) {
      std::memcpy(at, states_[i].rows.at(0).bytes.data(), field.element_bytes);
    } else if (field.shape == Shape::kVectors || field.shape == Shape::kVectorList) {
      const HostEdge edge{inner[i].data(), inner[i].size(), &kMetadata};
      std::memcpy(at, &edge, sizeof edge);
    } else {
      std::memcpy(at, &inner[i].at(0), sizeof(HostEdge));
    }
  }
  const unsigned workers = entry_.kind == Entry::Kind::kMultiVertex ? 6 : 1;
  for (unsigned worker = 0; worker < workers; ++worker) entry_.compute(vertex, worker);
  std::vector<std::vector<std::vector<std::uint8_t>>> after;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    std::vector<std::vector<std::uint8_t>>& rows = after.emplace_back();
    for (std::size_t row = 0; row < states_[i].rows.size(); ++row) {
      std::vector<std::uint8_t> bytes(states_[i].rows[row].bytes.size());
      std::memcpy(bytes.data(), memory[i][row].data(), bytes.size());
      rows.push_back(bytes);
    }
  }
  return after;
}

}  // namespace superstep::poplibs
