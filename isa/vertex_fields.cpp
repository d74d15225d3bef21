#include "isa/vertex_fields.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/error.h"

namespace superstep {

namespace {

constexpr std::uint32_t kAddressBits = 21;

/// `value` / 2^shift, which must be whole and fit in 16 bits.
std::uint32_t scaled(std::uint32_t value, unsigned shift, const char* layout) {
  if (value % (1U << shift) != 0 || (value >> shift) > 0xffff) {
    throw MalformedInput(fmt::format("{:#x} cannot be a {}: it needs a multiple of {} below {:#x}",
                                     value, layout, 1U << shift, 0x10000U << shift));
  }
  return value >> shift;
}

}  // namespace

const std::vector<std::string>& pointer_layout_names() {
  static const std::vector<std::string> names = {"one_ptr",      "span",         "short_span",
                                                 "scaled_ptr32", "scaled_ptr64", "scaled_ptr128",
                                                 "compact_ptr"};
  return names;
}

std::optional<PointerLayout> pointer_layout(std::string_view name) {
  const std::vector<std::string>& names = pointer_layout_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<PointerLayout>(found - names.begin());
}

void VertexFields::add_number(std::uint64_t value, std::size_t bytes) {
  bytes_.resize((bytes_.size() + bytes - 1) / bytes * bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void VertexFields::add_vector(PointerLayout layout, const VertexVector& vector) {
  switch (layout) {
    case PointerLayout::kOnePtr:
      return add_number(vector.address, 4);
    case PointerLayout::kSpan:
      add_number(vector.address, 4);
      return add_number(vector.count, 4);
    case PointerLayout::kShortSpan:
      if (vector.count > 0xfff || vector.address > 0xfffff) {
        throw MalformedInput(
            fmt::format("{} elements at {:#x} are no short_span: it has 12 bits of "
                        "count and 20 of address",
                        vector.count, vector.address));
      }
      return add_number(vector.address | vector.count << 20, 4);
    case PointerLayout::kScaledPtr32:
      if (vector.address < region0_) {
        throw MalformedInput(fmt::format("{:#x} lies below the tile's memory", vector.address));
      }
      return add_number(scaled(vector.address - region0_, 2, "scaled_ptr32"), 2);
    case PointerLayout::kScaledPtr64:
      return add_number(scaled(vector.address, 3, "scaled_ptr64"), 2);
    case PointerLayout::kScaledPtr128:
      return add_number(scaled(vector.address, 4, "scaled_ptr128"), 2);
    case PointerLayout::kCompactPtr:
      return add_vector(
          vector.alignment % 16 == 0 ? PointerLayout::kScaledPtr128 : PointerLayout::kOnePtr,
          vector);
  }
}

void VertexFields::add_vector_list(std::uint32_t base, std::uint32_t table, std::uint32_t rows) {
  if (rows > 0xffff)
    throw MalformedInput(fmt::format("a list of {} vectors; it has 16 bits", rows));
  add_number(base | rows << 24, 4);
  add_number(table | (rows >> 8) << 24, 4);
}

std::vector<std::uint32_t> delta_table(std::span<const VertexVector> vectors, std::uint32_t base,
                                       std::uint32_t element_bytes) {
  const unsigned offset_bits =
      kAddressBits - static_cast<unsigned>(std::countr_zero(element_bytes));
  std::vector<std::uint32_t> table;
  for (const VertexVector& vector : vectors) {
    if ((vector.address - base) % element_bytes != 0 || (vector.count >> (32 - offset_bits)) != 0) {
      throw MalformedInput(fmt::format(
          "{} elements at {:#x} are no part of a list from {:#x} on: it has whole elements and {} "
          "bits of count",
          vector.count, vector.address, base, 32 - offset_bits));
    }
    table.push_back((vector.address - base) / element_bytes | vector.count << offset_bits);
  }
  return table;
}

}  // namespace superstep
