#include <string>

#include "compiler/import/parser.h"

namespace superstep::import {
namespace {

constexpr int kMaxLocationDepth = 64;

}  // namespace

std::string Parser::parse_optional_location() {
  if (!accept_word("loc")) return {};
  expect('(', "behind `loc`");
  std::string out = parse_location(0);
  expect(')', "at the end of a location");
  return out;
}

std::string Parser::parse_location(int depth) {
  if (depth > kMaxLocationDepth) fail("location nested too deeply");
  if (token().kind == TokenKind::kAlias) {
    std::string out(token().text);
    advance();
    if (token().is('<')) {  // a dialect's own location
      skip_angles();
      return {};
    }
    return out;
  }
  if (token().kind == TokenKind::kString) {
    const std::string name = unquote(token().text);
    advance();
    if (accept('(')) {
      std::string child = parse_location(depth + 1);
      expect(')', "behind a named location");
      return child;
    }
    if (!accept(':')) return {};
    std::string out = name + ":" + std::to_string(expect_integer("a line"));
    if (accept(':')) out += ":" + std::to_string(expect_integer("a column"));
    if (accept_word("to")) {
      if (token().kind == TokenKind::kInteger) advance();
      if (accept(':')) expect_integer("a column");
    }
    return out;
  }
  if (accept_word("unknown")) return {};
  if (accept_word("callsite")) {
    expect('(', "behind `callsite`");
    std::string callee = parse_location(depth + 1);
    if (!accept_word("at")) fail("expected `at` in a call site, found " + found());
    const std::string caller = parse_location(depth + 1);
    expect(')', "behind a call site");
    return callee.empty() ? caller : callee;
  }
  if (accept_word("fused")) {
    if (token().is('<')) skip_angles();
    expect('[', "behind `fused`");
    std::string first;
    if (accept(']')) return first;
    do {
      const std::string next = parse_location(depth + 1);
      if (first.empty()) first = next;
    } while (accept(','));
    expect(']', "behind fused locations");
    return first;
  }
  if (token().is_word("loc")) return parse_optional_location();
  fail("expected a location, found " + found());
}

std::string resolve_location(const SyntaxModule& module, std::string_view location) {
  for (int depth = 0; depth < kMaxLocationDepth; ++depth) {
    if (location.empty() || location.front() != '#') return std::string(location);
    const auto at = module.locations.find(location);
    if (at == module.locations.end()) return {};
    location = at->second;
  }
  return {};
}

}  // namespace superstep::import
