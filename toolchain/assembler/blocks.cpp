#include <algorithm>
#include <array>
#include <tuple>

#include <fmt/format.h>

#include "toolchain/assembler/text_assembler.h"

namespace superstep::assembler {

namespace {

constexpr std::size_t kDeepestMacro = 64;         // of macros inside macros
constexpr std::size_t kMaxExpanded = 16U << 20U;  // bytes of text that macros make in all
constexpr std::size_t kCallCost = 256;            // what the record of a call takes besides

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The part before the first comma outside quotes, and the part after it.
std::pair<std::string_view, std::string_view> split_at_comma(std::string_view text) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') quoted = !quoted;
    if (text[at] == ',' && !quoted) return {text.substr(0, at), text.substr(at + 1)};
  }
  return {text, {}};
}

/// Adds `next` to what is made out of the same text.
void append(Expansion& all, const Expansion& next) {
  const auto offset = static_cast<std::uint32_t>(all.text.size());
  all.edits.push_back({offset, 0, false});
  for (const Expansion::Edit& edit : next.edits) {
    all.edits.push_back({offset + edit.offset, edit.origin, edit.is_fixed});
  }
  all.text += next.text;
}

}  // namespace

void TextAssembler::call_macro(const Token& name, const Macro& macro) {
  std::vector<MacroError> errors;
  const std::string_view text = lexer().rest();
  const std::vector<std::string> values = parse_arguments(macro, name.text, text, lexer(), errors);
  for (const MacroError& error : errors) fail(error.where, error.message);
  if (!errors.empty()) return;
  if (frames_.size() > kDeepestMacro) {
    fail(name.place, fmt::format("macros are nested more than {} deep; does `{}` call itself?",
                                 kDeepestMacro, name.text));
    frames_.clear();  // each level would try the rest of its body
    frames_.emplace_back();
    return;
  }
  Expansion expansion =
      substitute(macro.body, macro.body_place, macro.parameters, values, calls_++);
  expansion.called_from = name.place;
  expand(std::move(expansion));
}

void TextAssembler::expand(Expansion expansion) {
  expanded_ += expansion.text.size() + kCallCost;
  if (expanded_ > kMaxExpanded) {
    fail(expansion.called_from,
         fmt::format("macros and repetitions make more than {} MiB of text", kMaxExpanded >> 20U));
    frames_.clear();
    frames_.emplace_back();
    return;
  }
  const std::uint32_t buffer = sources_.add_expansion(std::move(expansion));
  frames_.push_back({Lexer(buffer, sources_.text(buffer)), conditionals_.depth()});
}

/// The statements up to the directive `end` that closes this block: one of `begin` opens another
/// one. Both are lists with a blank after each name. The lexer goes behind the block.
std::string_view TextAssembler::take_block(std::string_view begin, std::string_view end,
                                           Place place) {
  Lexer& lexer = this->lexer();
  int open = 1;
  std::optional<std::size_t> from;
  while (lexer.find_statement()) {
    const std::size_t at = lexer.offset();
    if (!from) from = at;
    const Token first = lexer.next();
    if (first.kind == Token::Kind::kEnd) {
      lexer.skip(1);  // a brace
      continue;
    }
    if (lexer.peek() == ':') {
      lexer.skip(1);
      continue;
    }
    if (first.kind == Token::Kind::kWord && first.text[0] == '.') {
      const std::string name = std::string(first.text) + " ";
      if (begin.find(name) != std::string_view::npos) ++open;
      if (end.find(name) != std::string_view::npos && --open == 0) {
        (void)lexer.rest();
        return lexer.text().substr(*from, at - *from);
      }
    }
    (void)lexer.rest();
  }
  fail(place, fmt::format("a block is not closed by `{}`", end.substr(0, end.find(' '))));
  return {};
}

void TextAssembler::begin_macro(const Token& directive) {
  const Token name = lexer().next();
  if (name.kind != Token::Kind::kWord)
    fail(directive.place, "`.macro name parameters` is expected");
  std::vector<MacroError> errors;
  Macro macro;
  macro.parameters = parse_parameters(lexer().rest(), lexer(), errors);
  for (const MacroError& error : errors) fail(error.where, error.message);
  macro.body = take_block(".macro ", ".endm .endmacro ", directive.place);
  macro.place = name.place;
  macro.body_place = macro.body.empty() ? directive.place : lexer().place_of(macro.body);
  if (name.kind != Token::Kind::kWord) return;
  if (!macros_.emplace(name.text, std::move(macro)).second) {
    fail(name.place, fmt::format("macro `{}` is defined twice, first at {}; `.purgem` removes it",
                                 name.text, text_of(macros_.at(name.text).place)));
  }
}

void TextAssembler::remove_macro(const Token& directive) {
  const Token name = lexer().next();
  if (macros_.erase(name.text) == 0) {
    fail(directive.place, fmt::format("`.purgem` of `{}`, which is no macro", spelled(name)));
  }
  (void)lexer().rest();
}

void TextAssembler::leave_macro(const Token& directive) {
  if (frames_.size() < 2) return fail(directive.place, "`.exitm` outside a macro");
  conditionals_.reduce_to(frames_.back().conditions);
  frames_.pop_back();
}

void TextAssembler::repeat(const Token& directive) {
  std::optional<std::int64_t> count;
  if (read_tokens()) {
    count = number_of({0, static_cast<std::uint32_t>(tokens_.size())}, directive);
  }
  const std::string_view body = take_block(".rept .rep .irp .irpc ", ".endr ", directive.place);
  if (!count || *count <= 0 || body.empty()) return;
  Expansion all;
  all.body = lexer().place_of(body);
  all.called_from = directive.place;
  for (std::int64_t i = 0; i < *count && all.text.size() <= kMaxExpanded; ++i) {
    append(all, {std::string(body), {}, {}, {}});
  }
  expand(std::move(all));
}

/// `.irp name, a, b, c` and `.irpc name, abc`.
void TextAssembler::repeat_values(const Token& directive) {
  const Token name = lexer().next();
  const bool is_named = name.kind == Token::Kind::kWord;
  if (!is_named) {
    fail(directive.place, fmt::format("`{} name, values` is expected", directive.text));
  }
  std::string_view list = lexer().rest();
  if (list.starts_with(',')) list = trimmed(list.substr(1));
  const std::vector<std::string> values =
      directive.text == ".irpc" ? parse_characters(list) : parse_values(list);
  const std::string_view body = take_block(".rept .rep .irp .irpc ", ".endr ", directive.place);
  if (body.empty() || !is_named) return;
  const Macro::Parameter parameter{name.text, {}, false, false};
  Expansion all;
  all.body = lexer().place_of(body);
  all.called_from = directive.place;
  for (const std::string& value : values) {
    append(all, substitute(body, all.body, {&parameter, 1}, {&value, 1}, calls_));
    if (all.text.size() > kMaxExpanded) break;
  }
  expand(std::move(all));
}

void TextAssembler::misplaced(const Token& directive) {
  fail(directive.place, fmt::format("`{}` without what it closes", directive.text));
  (void)lexer().rest();
}

/// Whether the directive opens, switches or closes a condition; then it did.
bool TextAssembler::read_condition(const Token& directive) {
  const std::string_view name = directive.text;
  if (name == ".else") {
    otherwise(directive);
  } else if (name == ".elseif") {
    else_if(directive);
  } else if (name == ".endif") {
    end_if(directive);
  } else if (!name.starts_with(".if")) {
    return false;
  } else if (conditionals_.is_skipping()) {
    conditionals_.open(false, directive.place);
    (void)lexer().rest();
  } else if (name == ".ifc" || name == ".ifnc") {
    compare_text(directive);
  } else if (name == ".ifeqs" || name == ".ifnes") {
    compare_strings(directive);
  } else if (name == ".ifb" || name == ".ifnb") {
    test_blank(directive);
  } else if (name == ".ifdef" || name == ".ifndef" || name == ".ifnotdef") {
    test_defined(directive);
  } else {
    compare_number(directive);
  }
  return true;
}

void TextAssembler::compare_number(const Token& directive) {
  constexpr std::array<std::string_view, 7> kNames = {".if",   ".ifne", ".ifeq", ".iflt",
                                                      ".ifle", ".ifgt", ".ifge"};
  if (std::find(kNames.begin(), kNames.end(), directive.text) == kNames.end()) {
    fail(directive.place, fmt::format("`{}` is no directive; conditions are {}, .ifc, .ifnc, "
                                      ".ifeqs, .ifnes, .ifb, .ifnb, .ifdef, .ifndef",
                                      directive.text, fmt::join(kNames, ", ")));
    (void)lexer().rest();
    return conditionals_.open(false, directive.place);
  }
  std::int64_t value = 0;
  if (read_tokens()) {
    value = number_of({0, static_cast<std::uint32_t>(tokens_.size())}, directive).value_or(0);
  }
  const std::string_view test = directive.text;
  const bool holds = test == ".ifeq"   ? value == 0
                     : test == ".iflt" ? value < 0
                     : test == ".ifle" ? value <= 0
                     : test == ".ifgt" ? value > 0
                     : test == ".ifge" ? value >= 0
                                       : value != 0;
  conditionals_.open(holds, directive.place);
}

void TextAssembler::compare_text(const Token& directive) {
  const std::string_view text = lexer().rest();
  const auto [left, right] = split_at_comma(text);
  if (left.size() == text.size()) fail(directive.place, "two texts and a comma are expected");
  const bool same = trimmed(left) == trimmed(right);
  conditionals_.open(same == (directive.text == ".ifc"), directive.place);
}

/// `.ifeqs "text", "text"`.
void TextAssembler::compare_strings(const Token& directive) {
  bool same = false;
  if (read_tokens()) {
    const bool is_pair = tokens_.size() == 3 && tokens_[0].kind == Token::Kind::kString &&
                         tokens_[1].is(",") && tokens_[2].kind == Token::Kind::kString;
    if (!is_pair) {
      fail(directive.place, "two strings in quotes and a comma between them are expected");
    } else {
      same = tokens_[0].text == tokens_[2].text;
    }
  }
  conditionals_.open(same == (directive.text == ".ifeqs"), directive.place);
}

void TextAssembler::test_blank(const Token& directive) {
  const std::string_view text = lexer().rest();
  conditionals_.open(text.empty() == (directive.text == ".ifb"), directive.place);
}

void TextAssembler::test_defined(const Token& directive) {
  const NamedSymbol* symbol = symbols_.find(lexer().rest());
  const bool defined = symbol != nullptr && symbol->kind != NamedSymbol::Kind::kUndefined;
  conditionals_.open(defined == (directive.text == ".ifdef"), directive.place);
}

void TextAssembler::else_if(const Token& directive) {
  bool holds = false;
  if (!conditionals_.wants_condition()) {
    (void)lexer().rest();
  } else if (read_tokens()) {
    holds = number_of({0, static_cast<std::uint32_t>(tokens_.size())}, directive).value_or(0) != 0;
  }
  if (!conditionals_.next_branch(holds, false)) fail(directive.place, "`.elseif` without `.if`");
}

void TextAssembler::otherwise(const Token& directive) {
  (void)lexer().rest();
  if (!conditionals_.next_branch(true, true)) fail(directive.place, "`.else` without `.if`");
}

void TextAssembler::end_if(const Token& directive) {
  (void)lexer().rest();
  const bool here = conditionals_.depth() > frames_.back().conditions;
  if (!here || !conditionals_.close()) fail(directive.place, "`.endif` without `.if`");
}

}  // namespace superstep::assembler
