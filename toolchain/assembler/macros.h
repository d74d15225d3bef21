#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/assembler/lexer.h"

namespace superstep::assembler {

/// `.macro name a, b=default, c:req, rest:vararg`.
struct Macro {
  struct Parameter {
    std::string_view name;
    std::string initial;
    bool is_required = false;
    bool is_rest = false;
  };
  std::vector<Parameter> parameters;
  Place place;
  Place body_place;
  std::string_view body;
};

/// What a call gives a macro; `is_given` tells an empty string from nothing.
struct MacroArgument {
  std::string text;
  bool is_given = false;
};

/// What is wrong with a macro or a call, and where.
struct MacroError {
  std::string message;
  Place where;
};

/// The parameters of a `.macro`, from the text after its name.
[[nodiscard]] std::vector<Macro::Parameter> parse_parameters(std::string_view text,
                                                             const Lexer& lexer,
                                                             std::vector<MacroError>& errors);

/// One value for each parameter, from the text after the macro's name in a call. Values are
/// separated by commas or blanks; `name=value` sets one by name; quotes around a value go.
[[nodiscard]] std::vector<std::string> parse_arguments(const Macro& macro, std::string_view name,
                                                       std::string_view text, const Lexer& lexer,
                                                       std::vector<MacroError>& errors);

/// The values of an `.irp`, from the text after its name, and of an `.irpc`: its characters without
/// blanks, or all of a string.
[[nodiscard]] std::vector<std::string> parse_values(std::string_view text);
[[nodiscard]] std::vector<std::string> parse_characters(std::string_view text);

/// The body with `\parameter` replaced, `\()` removed and `\@` as the number of the call.
[[nodiscard]] Expansion substitute(std::string_view body, Place body_place,
                                   std::span<const Macro::Parameter> parameters,
                                   std::span<const std::string> arguments, std::uint64_t call);

}  // namespace superstep::assembler
