#include <string>
#include <utility>

#include "compiler/import/parser.h"

namespace superstep::import {
namespace {

constexpr int kMaxLocationDepth = 64;
constexpr int kMaxAliases = 1000;
constexpr std::int64_t kMaxLine = 0xffffffff;

}  // namespace

const SyntaxLocation* location_of(std::string_view alias, const SyntaxModule& module,
                                  int followed) {
  const auto at = module.locations.find(alias);
  return at == module.locations.end() || followed >= kMaxAliases ? nullptr : &at->second;
}

SyntaxLocation Parser::parse_optional_location() {
  SyntaxLocation location;
  if (!accept_word("loc")) return location;
  expect('(', "behind `loc`");
  parse_location(location, 0);
  expect(')', "at the end of a location");
  return location;
}

// Appends the frames of a location, innermost first.
void Parser::parse_location(SyntaxLocation& location, int depth) {
  if (depth > kMaxLocationDepth) fail("location nested too deeply");
  if (token().kind == TokenKind::kAlias) {
    const std::string_view alias = token().text;
    advance();
    if (token().is('<')) {
      skip_angles();  // a dialect's own location
    } else {
      location.push_back({alias, {}});
    }
    return;
  }
  if (token().kind == TokenKind::kString) {
    SourceLocation place{checked_name(unquote(token().text), token().offset), 0, 0};
    advance();
    if (accept('(')) {
      parse_location(location, depth + 1);
      return expect(')', "behind a named location");
    }
    if (!accept(':')) {
      if (!place.file.empty()) location.push_back({{}, {}, std::move(place.file)});
      return;
    }
    const std::int64_t line = expect_integer("a line");
    if (line > 0 && line <= kMaxLine) place.line = static_cast<std::uint32_t>(line);
    if (accept(':')) expect_integer("a column");
    if (accept_word("to")) {
      if (token().kind == TokenKind::kInteger) advance();
      if (accept(':')) expect_integer("a column");
    }
    location.push_back({{}, std::move(place)});
    return;
  }
  if (accept_word("unknown")) return;
  if (accept_word("callsite")) {
    expect('(', "behind `callsite`");
    parse_location(location, depth + 1);
    if (!accept_word("at")) fail("expected `at` in a call site, found " + found());
    parse_location(location, depth + 1);
    return expect(')', "behind a call site");
  }
  if (accept_word("fused")) {
    if (token().is('<')) skip_angles();
    expect('[', "behind `fused`");
    if (accept(']')) return;
    do {
      parse_location(location, depth + 1);
    } while (accept(','));
    return expect(']', "behind fused locations");
  }
  if (accept_word("loc")) {
    expect('(', "behind `loc`");
    parse_location(location, depth + 1);
    return expect(')', "at the end of a location");
  }
  fail("expected a location, found " + found());
}

}  // namespace superstep::import
