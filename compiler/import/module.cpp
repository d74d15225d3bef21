#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "base/text.h"
#include "compiler/import/parser.h"

namespace superstep::import {
namespace {

constexpr int kMaxRegionDepth = 32;
constexpr std::size_t kLongestQuote = 40;

bool is_name(const Token& token, std::string_view pretty, std::string_view full) {
  return token.is_word(pretty) || token.is_word(full) ||
         (token.kind == TokenKind::kString && token.text.size() == full.size() + 2 &&
          token.text.substr(1, full.size()) == full);
}

bool is_module(const Token& token) { return is_name(token, "module", "builtin.module"); }
bool is_function(const Token& token) { return is_name(token, "func.func", "func.func"); }

/// The result that takes an argument's place. Refuses JAX's argument that says on which of several
/// platforms a module runs: an export has it in front of the function's own.
std::optional<std::int64_t> alias_of(const SyntaxFields& attributes) {
  for (const SyntaxField& field : attributes) {
    if (field.name == "jax.global_constant" && field.value.text == "_platform_index") {
      throw SyntaxError{field.offset,
                        "the module is exported for several platforms, and this argument says on "
                        "which it runs; export it for one, as by "
                        "`jax.export.export(f, platforms=[\"cpu\"])`",
                        true};
    }
    if (field.name == "tf.aliasing_output" && field.value.kind == SyntaxAttribute::Kind::kInteger) {
      return field.value.integer;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string Parser::result_info(const SyntaxFields& attributes) const {
  for (const SyntaxField& field : attributes) {
    if (field.name == "jax.result_info") return checked_name(field.value.text, field.offset);
  }
  return {};
}

std::int64_t integer_value(const Token& token) {
  std::string_view digits = token.text;
  const bool negative = digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  const bool hex = digits.substr(0, 2) == "0x";
  if (hex) digits.remove_prefix(2);
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, hex ? 16 : 10);
  if (error != std::errc() || (negative && magnitude > std::uint64_t{1} << 63)) {
    throw SyntaxError{token.offset, std::string(token.text) + " does not fit 64 bits"};
  }
  // Above 2^63 it is the pattern of an unsigned number.
  return static_cast<std::int64_t>(negative ? ~magnitude + 1 : magnitude);
}

bool Parser::accept(char c) {
  if (!token().is(c)) return false;
  advance();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!token().is_word(word)) return false;
  advance();
  return true;
}

void Parser::expect(char c, std::string_view where) {
  if (!accept(c))
    fail(std::string("expected `") + c + "` " + std::string(where) + ", found " + found());
}

std::int64_t Parser::expect_integer(std::string_view what) {
  if (token().kind != TokenKind::kInteger) {
    fail("expected " + std::string(what) + ", found " + found());
  }
  const std::int64_t value = integer_value(token());
  advance();
  return value;
}

std::string Parser::found() const {
  if (token().kind == TokenKind::kEnd) return "the end of the file";
  return "`" + shortened(token().text, kLongestQuote) + "`";
}

std::string Parser::checked_name(std::string name, std::size_t offset) const {
  if (printable(name) == name) return name;
  std::string quoted;
  for (const char c : printable(shortened(name, kLongestQuote))) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else {
      quoted += c;
    }
  }
  throw SyntaxError{
      offset, "the name `" + quoted + "` has bytes that are no UTF-8 text, or control characters"};
}

SyntaxModule Parser::parse() {
  SyntaxModule module;
  parse_module_body(module, false);
  return module;
}

void Parser::parse_module_body(SyntaxModule& module, bool braced) {
  while (token().kind != TokenKind::kEnd) {
    if (token().is('}')) {
      if (braced) return;
      report({token().offset, "this `}` closes nothing"});
      advance();
      continue;
    }
    const Lexer begin = lexer_;
    try {
      if (token().kind == TokenKind::kAlias) {
        std::string name(token().text);
        advance();
        expect('=', "behind the name of an alias");
        if (token().is_word("loc")) {
          module.locations.insert_or_assign(std::move(name), parse_optional_location());
        } else {
          parse_attribute(0);
        }
      } else if (is_module(token())) {
        parse_module(module);
      } else if (is_function(token())) {
        parse_function(module);
      } else if (token().kind == TokenKind::kBlock && braced) {
        advance();
        expect(':', "behind the label of a block");
      } else if (token().is_word("sdy.mesh")) {
        parse_mesh(module);
      } else if (token().kind == TokenKind::kType) {
        skip_op();
      } else if (starts_op()) {
        report({token().offset, "expected a function, found " + found(), true});
        skip_op();
      } else {
        fail("expected a module or a function, found " + found());
      }
    } catch (const SyntaxError& error) {
      report(error);
      // A function that is never closed ends where the next one begins.
      if (is_function(token()) && token().offset != begin.token().offset) continue;
      lexer_ = begin;
      skip_op();
    }
  }
  if (braced) fail("the module is never closed by `}`");
}

// `sdy.mesh @mesh = <["x"=2, "y"=4], …>`
void Parser::parse_mesh(SyntaxModule& module) {
  const Lexer begin = lexer_;
  advance();
  if (token().kind != TokenKind::kSymbol) fail("expected the name of a mesh, found " + found());
  std::int64_t& devices = module.mesh_devices[parse_attribute(0).text];
  devices = 1;
  expect('=', "behind the name of a mesh");
  expect('<', "in front of a mesh");
  expect('[', "in front of the axes of a mesh");
  while (token().kind == TokenKind::kString) {
    advance();
    expect('=', "behind the name of an axis");
    const std::size_t at = token().offset;
    const std::int64_t size = expect_integer("the size of an axis");
    if (size < 1 || __builtin_mul_overflow(devices, size, &devices)) {
      throw SyntaxError{at, "an axis of a mesh has no such size"};
    }
    if (!accept(',')) break;
  }
  expect(']', "at the end of the axes of a mesh");
  lexer_ = begin;
  skip_op();
}

void Parser::parse_module(SyntaxModule& module) {
  const std::size_t offset = token().offset;
  const bool generic = token().kind == TokenKind::kString;
  if (!module.name.empty() || !module.functions.empty()) {
    throw SyntaxError{offset, "more than one module in a file; give each a file of its own", true};
  }
  advance();
  module.name = "module";
  if (generic) {
    expect('(', "behind \"builtin.module\"");
    expect(')', "behind \"builtin.module\"");
    if (accept('<')) {
      for (const auto& [name, at, value] : parse_dictionary(0)) {
        if (name == "sym_name") module.name = checked_name(value.text, at);
      }
      expect('>', "behind properties");
    }
    expect('(', "in front of the module's region");
  } else {
    if (token().kind == TokenKind::kSymbol) {
      const std::size_t at = token().offset;
      module.name = checked_name(parse_attribute(0).text, at);
    }
    if (accept_word("attributes")) parse_dictionary(0);
  }
  expect('{', "in front of the module's functions");
  // Behind this point the functions stand for themselves: nothing is read twice.
  try {
    parse_module_body(module, true);
    expect('}', "at the end of the module");
    if (generic) {
      expect(')', "behind the module's region");
      if (token().is('{')) parse_dictionary(0);
      if (accept(':')) parse_attribute(0);
    }
    parse_optional_location();
  } catch (const SyntaxError& error) {
    report(error);
  }
}

void Parser::parse_function(SyntaxModule& module) {
  const bool generic = token().kind == TokenKind::kString;
  SyntaxFunction function;
  function.offset = token().offset;
  try {
    if (generic) {
      parse_function_generic(function);
    } else {
      parse_function_pretty(function);
    }
  } catch (SyntaxError&) {
    function.broken = true;
    module.functions.push_back(std::move(function));
    throw;
  }
  module.functions.push_back(std::move(function));
}

SyntaxArgument Parser::parse_argument() {
  SyntaxArgument argument;
  argument.offset = token().offset;
  if (token().kind != TokenKind::kValue)
    fail("expected an argument such as %arg0, found " + found());
  argument.name = token().text.substr(1);
  advance();
  expect(':', "and a type behind an argument");
  argument.type = parse_type();
  if (token().is('{')) argument.alias = alias_of(parse_dictionary(0));
  argument.location = parse_optional_location();
  return argument;
}

void Parser::parse_function_pretty(SyntaxFunction& function) {
  advance();
  for (const std::string_view visibility : {"public", "private", "nested"}) {
    if (accept_word(visibility)) function.is_private = visibility != "public";
  }
  if (token().kind != TokenKind::kSymbol) fail("expected the function's name, found " + found());
  function.offset = token().offset;
  function.name = checked_name(parse_attribute(0).text, function.offset);
  expect('(', "in front of the function's arguments");
  if (!accept(')')) {
    do {
      function.body.arguments.push_back(parse_argument());
    } while (accept(','));
    expect(')', "behind the function's arguments");
  }
  if (token().kind == TokenKind::kArrow) {
    advance();
    if (accept('(')) {
      if (!accept(')')) {
        do {
          function.results.push_back(parse_type());
          if (token().is('{')) function.results.back().label = result_info(parse_dictionary(0));
        } while (accept(','));
        expect(')', "behind the function's results");
      }
    } else {
      function.results.push_back(parse_type());
    }
  }
  if (accept_word("attributes")) parse_dictionary(0);
  expect('{', "in front of the function's body");
  parse_block(function.body, 0);
  expect('}', "at the end of the function's body");
  parse_optional_location();
}

void Parser::parse_function_generic(SyntaxFunction& function) {
  advance();
  expect('(', "behind \"func.func\"");
  expect(')', "behind \"func.func\"");
  std::vector<std::optional<std::int64_t>> aliases;
  std::vector<std::string> labels;
  const auto read = [&](const SyntaxFields& attributes) {
    for (const auto& [name, at, value] : attributes) {
      if (name == "sym_name") function.name = checked_name(value.text, at);
      if (name == "sym_visibility") function.is_private = value.text != "public";
      if (name == "function_type") function.results = value.results;
      for (const SyntaxAttribute& of : value.list) {
        if (name == "arg_attrs") aliases.push_back(alias_of(of.dictionary));
        if (name == "res_attrs") labels.push_back(result_info(of.dictionary));
      }
    }
  };
  if (accept('<')) {
    read(parse_dictionary(0));
    expect('>', "behind properties");
  }
  expect('(', "in front of the function's region");
  expect('{', "in front of the function's body");
  parse_block(function.body, 0);
  expect('}', "at the end of the function's body");
  expect(')', "behind the function's region");
  if (token().is('{')) read(parse_dictionary(0));
  expect(':', "behind the function");
  parse_attribute(0);
  parse_optional_location();
  if (function.name.empty()) throw SyntaxError{function.offset, "a function without sym_name"};
  for (std::size_t i = 0; i < std::min(aliases.size(), function.body.arguments.size()); ++i) {
    function.body.arguments[i].alias = aliases[i];
  }
  for (std::size_t i = 0; i < std::min(labels.size(), function.results.size()); ++i) {
    function.results[i].label = std::move(labels[i]);
  }
}

void Parser::parse_block(SyntaxBlock& block, int depth) {
  if (depth > kMaxRegionDepth) fail("regions nested too deeply");
  if (token().kind == TokenKind::kBlock) {
    advance();
    if (accept('(')) {
      if (!accept(')')) {
        do {
          block.arguments.push_back(parse_argument());
        } while (accept(','));
        expect(')', "behind the arguments of a block");
      }
    }
    expect(':', "behind the label of a block");
  }
  while (!token().is('}')) {
    if (token().kind == TokenKind::kEnd) fail("the block is never closed by `}`");
    if (is_function(token())) fail("expected `}` in front of the next function");
    if (token().kind == TokenKind::kBlock) {
      throw SyntaxError{token().offset, "regions of several blocks are not supported", true};
    }
    block.ops.push_back(parse_op(depth));
  }
}

}  // namespace superstep::import
