#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/lexer.h"
#include "compiler/import/syntax.h"

namespace superstep::import {

/// Which ops a text may have besides those of programs.
enum class Dialects : std::uint8_t {
  kProgram,
  kChecks,  ///< `check.…` and `interpreter.…`, with which a module says what it should compute
};

/// Reads the text of a module, pretty or generic form. What is wrong goes to `problems`; reading
/// goes on behind the op or function that is wrong.
class Parser {
 public:
  Parser(std::string_view text, std::vector<SyntaxError>& problems,
         Dialects dialects = Dialects::kProgram)
      : lexer_(text), problems_(problems), dialects_(dialects) {}

  [[nodiscard]] SyntaxModule parse();

  // What the records of ops read their pretty forms with; see `Syntax`.

  /// The usual form.
  void parse_usual(SyntaxOp& op);
  /// Its part in front of the types.
  void parse_items(SyntaxOp& op);
  /// Types of operands and results, or one type for all of them.
  void parse_types(SyntaxOp& op);
  /// The types behind `:`; nothing when operand types, `->` and result types came, which the op has
  /// then.
  std::optional<std::vector<TypeUse>> parse_listed_types(SyntaxOp& op);
  void parse_function_type(SyntaxOp& op);
  TypeUse parse_type();
  ValueUse parse_value();
  SyntaxArgument parse_argument();
  void parse_block(SyntaxBlock& block, int depth);
  SyntaxAttribute parse_attribute(int depth);
  std::vector<std::int64_t> parse_integer_list();
  void add_attribute(SyntaxOp& op, const std::string& name, SyntaxAttribute attribute);
  /// `{…}`, if there is one.
  void add_optional_dictionary(SyntaxOp& op);
  /// `<…>`, as text.
  std::string skip_angles();
  /// `<{…}>`, if there is one.
  void add_optional_properties(SyntaxOp& op);

  const Token& token() const { return lexer_.token(); }
  void advance() { lexer_.advance(); }
  bool accept(char c);
  bool accept_word(std::string_view word);
  void expect(char c, std::string_view where);
  std::int64_t expect_integer(std::string_view what);
  /// The current token for a message.
  std::string found() const;
  [[noreturn]] void fail(const std::string& message) const {
    throw SyntaxError{token().offset, message};
  }

 private:
  // module.cpp
  void parse_module_body(SyntaxModule& module, bool braced);
  void parse_module(SyntaxModule& module);
  void parse_mesh(SyntaxModule& module);
  void parse_function(SyntaxModule& module);
  void parse_function_pretty(SyntaxFunction& function);
  void parse_function_generic(SyntaxFunction& function);

  // op.cpp
  SyntaxOp parse_op(int depth);
  void parse_results(SyntaxOp& op);
  void parse_generic(SyntaxOp& op, int depth);
  void parse_pretty(SyntaxOp& op, int depth);
  void parse_call(SyntaxOp& op);
  void parse_composite(SyntaxOp& op);
  void parse_flattened(SyntaxOp& op);
  void parse_return(SyntaxOp& op);
  void parse_keyword(SyntaxOp& op);
  std::vector<ValueUse> parse_values_in_parentheses();
  /// Goes on behind an op whose text is not understood, from its name; the op's location.
  SyntaxLocation skip_op();
  bool starts_op() const;

  // check_op.cpp
  [[nodiscard]] bool is_check(std::string_view name) const;
  void parse_check(SyntaxOp& op);

  // attribute.cpp
  SyntaxAttribute parse_dialect_attribute(int depth);
  SyntaxFields parse_dictionary(int depth);
  SyntaxFields parse_fields(char close, int depth);
  SyntaxAttribute parse_array();
  std::vector<std::string> parse_word_list();
  void add_dictionary(SyntaxOp& op);
  /// Adds each field as an attribute that the op has.
  void add_fields(SyntaxOp& op, SyntaxFields fields);

  // dense.cpp
  SyntaxAttribute parse_dense();
  void parse_elements(SyntaxAttribute& out);
  void parse_element(HostTensor& tensor, std::size_t i);

  // type.cpp
  std::vector<TypeUse> parse_type_list(char close);
  std::vector<TypeUse> parse_result_types();

  // location.cpp
  SyntaxLocation parse_optional_location();
  void parse_location(SyntaxLocation& location, int depth);

  /// `name` if it can be printed, as those that reports and traces show.
  [[nodiscard]] std::string checked_name(std::string name, std::size_t offset) const;
  /// What JAX calls the result that has these attributes, or nothing.
  [[nodiscard]] std::string result_info(const SyntaxFields& attributes) const;
  void report(SyntaxError problem) { problems_.push_back(std::move(problem)); }

  Lexer lexer_;
  std::vector<SyntaxError>& problems_;
  Dialects dialects_;
  int tuple_depth_ = 0;
};

/// An integer token's value; reports one that 64 bits do not hold.
[[nodiscard]] std::int64_t integer_value(const Token& token);

}  // namespace superstep::import
