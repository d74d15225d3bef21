#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace superstep {

namespace import {
class Parser;
struct SyntaxOp;
}  // namespace import

/// `key = value` of a pretty form, and the attributes that it stands for.
struct Keyword {
  std::string_view key;
  enum class Value : std::uint8_t {
    kIntegers,  ///< `[0, 1]`
    kPair,      ///< `[0] x [1]`: `attribute` and `second`
    kInteger,
    kString,
    kWords,   ///< `[DEFAULT, HIGHEST]`
    kFields,  ///< `<lhs_precision_type = f32, …>`: attributes of their own
  } value;
  std::string_view attribute, second = {};
};

/// The pretty form of an op, behind its name. The usual one is operands, keywords, attributes and
/// types: `%a, %b, dim = 0 {…} : …`.
struct Syntax {
  std::span<const Keyword> keywords = {};
  /// Reads a form that is not the usual one; regions are `depth` deep.
  void (*parse)(import::Parser& parser, import::SyntaxOp& op, int depth) = nullptr;
};

}  // namespace superstep
