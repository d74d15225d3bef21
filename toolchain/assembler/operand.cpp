#include "toolchain/assembler/operand.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "isa/registers.h"
#include "toolchain/assembler/expression.h"

namespace superstep::assembler {

namespace {

Operand make_register(isa::File file, std::uint32_t number, unsigned count = 1) {
  Operand operand;
  operand.is_register = true;
  operand.file = file;
  operand.number = number;
  operand.count = count;
  return operand;
}

/// `$a4:7`, where `name` is `a4` and `last` 7.
void widen(Operand& operand, std::string_view name, std::int64_t last, std::string& error) {
  const std::int64_t count = last > 15 || last < 0 ? 0 : last - operand.number + 1;
  if ((count != 2 && count != 4) || operand.number % count != 0) {
    error = fmt::format(
        "`${}:{}` is no register pair or quad; pairs begin at an even number, quads at a "
        "multiple of 4",
        name, last);
    return;
  }
  operand.count = static_cast<unsigned>(count);
}

/// `m16`: what can only be meant for a register.
bool is_numbered(std::string_view name) {
  return (name[0] == 'm' || name[0] == 'a') && name.size() > 1 &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

constexpr std::array<std::string_view, 4> kSuffixes = {"+=", "++", "@", ">>"};
constexpr std::array<std::string_view, 3> kBroadcasts = {":B", ":BL", ":BU"};

}  // namespace

std::optional<Operand> register_of(std::string_view name) {
  if (name.size() < 2) return std::nullopt;
  if (name.size() <= 3 && (name[0] == 'm' || name[0] == 'a') && name[1] >= '0' && name[1] <= '9') {
    std::uint32_t number = static_cast<std::uint32_t>(name[1] - '0');
    if (name.size() == 3) {
      if (name[2] < '0' || name[2] > '9') return std::nullopt;
      number = number * 10 + static_cast<std::uint32_t>(name[2] - '0');
    }
    if (number > 15) return std::nullopt;
    return make_register(name[0] == 'm' ? isa::File::kMain : isa::File::kAux, number);
  }
  constexpr std::array<std::pair<std::string_view, std::uint32_t>, 7> kMainNames = {
      {{"mzero", isa::kZero},
       {"bp", isa::kBasePointer},
       {"fp", isa::kFramePointer},
       {"lr", isa::kLinkRegister},
       {"sp", isa::kStackPointer},
       {"mworker_base", isa::kWorkerBase},
       {"mvertex_base", isa::kVertexBase}}};
  for (const auto& [known, number] : kMainNames) {
    if (name == known) return make_register(isa::File::kMain, number);
  }
  if (name == "azero") return make_register(isa::File::kAux, isa::kZero);
  if (name == "azeros") return zero_register(isa::File::kAux, 2);
  return std::nullopt;
}

Operand zero_register(isa::File file, unsigned count) {
  Operand operand = make_register(file, count == 2 ? 14 : isa::kZero, count);
  operand.is_zeros = count == 2;
  return operand;
}

Operand parse_operand(const std::vector<Token>& tokens, std::uint32_t first, std::uint32_t end,
                      std::string& error) {
  Operand expression;
  expression.place = tokens[first].place;
  expression.first = first;
  expression.tokens = end - first;
  if (tokens[first].kind != Token::Kind::kRegister) return expression;
  std::optional<Operand> operand = register_of(tokens[first].text);
  if (!operand) {
    if (is_numbered(tokens[first].text)) {
      error = fmt::format("there is no register `${}`; they are $m0 to $m15 and $a0 to $a15",
                          tokens[first].text);
    }
    return expression;
  }
  operand->place = expression.place;
  std::uint32_t at = first + 1;
  if (at + 1 < end && tokens[at].is(":") && tokens[at + 1].kind == Token::Kind::kNumber) {
    widen(*operand, tokens[first].text, tokens[at + 1].value.number, error);
    at += 2;
  }
  if (at == end) return *operand;
  const auto known = [&](const auto& suffixes, std::uint32_t length, std::string_view text) {
    for (const std::string_view suffix : suffixes) {
      if (suffix == text && at + length == end) operand->suffix = suffix;
    }
  };
  known(kSuffixes, 1, tokens[at].text);
  if (tokens[at].is(":") && at + 1 < end)
    known(kBroadcasts, 2, fmt::format(":{}", tokens[at + 1].text));
  if (tokens[at].kind == Token::Kind::kRegister && error.empty()) {
    error = fmt::format("a comma is missing before `{}`", spelled(tokens[at]));
  }
  if (operand->suffix.empty() && error.empty()) {
    error = fmt::format(
        "`{}` after a register; there may be a pair or quad (`$a0:1`, `$a0:3`), a broadcast "
        "(`:B`, `:BL`, `:BU`) or `+=`, `++`, `@`, `>>`",
        spelled(tokens[at]));
  }
  return *operand;
}

}  // namespace superstep::assembler
