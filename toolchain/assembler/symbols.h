#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "toolchain/assembler/lexer.h"
#include "toolchain/object.h"

namespace superstep::assembler {

/// A range of tokens that is evaluated at the end of the text.
struct KeptExpression {
  std::uint32_t first = 0;
  std::uint32_t tokens = 0;
};

/// A name of the text: label, `.equ`, or not defined there.
struct NamedSymbol {
  enum class Kind : std::uint8_t { kUndefined, kLabel, kConstant, kKept };
  std::string_view name;
  Kind kind = Kind::kUndefined;
  Value value;          ///< of a label or a constant
  KeptExpression kept;  ///< of a constant that uses what comes later
  bool is_being_evaluated = false;
  bool is_global = false;
  bool is_function = false;
  bool is_used = false;  ///< in a field that a link fills in
  KeptExpression size;   ///< of `.size`; no tokens without
  std::uint32_t size_value = 0;
  Object::Mode mode = Object::Mode::kWorker;
  Place place;
};

/// The names of one text in the order in which they occur, and its numeric labels.
class Symbols {
 public:
  /// The symbol of a name, made when it is new.
  NamedSymbol& named(std::string_view name);
  [[nodiscard]] NamedSymbol* find(std::string_view name);
  [[nodiscard]] std::uint32_t index_of(const NamedSymbol& symbol) const {
    return static_cast<std::uint32_t>(&symbol - all_.data());
  }
  [[nodiscard]] std::vector<NamedSymbol>& all() { return all_; }

  void define_numeric(std::int64_t number, Value value) { numeric_[number].push_back(value); }
  /// The definitions of a numeric label so far.
  [[nodiscard]] const std::vector<Value>& numeric(std::int64_t number) { return numeric_[number]; }

 private:
  std::vector<NamedSymbol> all_;
  std::unordered_map<std::string_view, std::uint32_t> indices_;
  std::unordered_map<std::int64_t, std::vector<Value>> numeric_;
};

}  // namespace superstep::assembler
