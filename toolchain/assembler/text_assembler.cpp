#include "toolchain/assembler/text_assembler.h"

#include <algorithm>

#include <fmt/format.h>

#include "isa/registers.h"

namespace superstep::assembler {

namespace {

constexpr std::size_t kMaxProblems = 200;
constexpr int kMaxKeptDepth = 500;  // of constants: their evaluation recurses
constexpr Value kUnknown = {0, Value::Base::kUnknown, 0};

Value number(std::int64_t value) { return {value, Value::Base::kNone, 0}; }

}  // namespace

void TextAssembler::run(std::string_view text, const std::string& file) {
  std::vector<Problem> problems;
  const std::uint32_t buffer = sources_.add_file(text, file, problems);
  for (Problem& problem : problems) problems_.push_back({0, std::move(problem)});
  frames_.push_back({Lexer(buffer, sources_.text(buffer)), 0});
  while (!frames_.empty()) {
    if (lexer().find_statement()) {
      read_statement();
    } else {
      leave_frame();
    }
    if (problems_.size() >= kMaxProblems) break;
  }
  frames_.clear();
  finish();
  finish_problems();
}

void TextAssembler::fail(Place place, const std::string& message) {
  ++failures_;
  Problem problem = sources_.problem(place, message);
  // A macro that is called often says what is wrong with its body once.
  if (!reported_.insert(problem.where.text() + message).second) return;
  problems_.push_back({sources_.outermost(place).offset, std::move(problem)});
}

std::string TextAssembler::text_of(Place place) const {
  return sources_.problem(place, {}).where.text();
}

void TextAssembler::finish_problems() {
  if (problems_.empty()) return;
  std::stable_sort(problems_.begin(), problems_.end(),
                   [](const RankedProblem& a, const RankedProblem& b) { return a.rank < b.rank; });
  std::vector<Problem> problems;
  for (RankedProblem& ranked : problems_) problems.push_back(std::move(ranked.problem));
  throw MalformedInput(std::move(problems));
}

void TextAssembler::leave_frame() {
  const std::size_t conditions = frames_.back().conditions;
  if (conditionals_.depth() > conditions) {
    fail(conditionals_.last_place(), "a condition is not closed by `.endif`");
    conditionals_.reduce_to(conditions);
  }
  frames_.pop_back();
}

void TextAssembler::read_statement() {
  if (conditionals_.is_skipping()) return skip_statement();
  dot_ = output_.offset();
  Lexer& lexer = this->lexer();
  const char c = lexer.peek();
  if (c == '{' || c == '}') {
    const Place place = lexer.place();
    lexer.skip(1);
    return c == '{' ? open_bundle(place) : close_bundle(place);
  }
  const Token first = lexer.next();
  const bool is_word = first.kind == Token::Kind::kWord;
  const char after = lexer.peek();
  if (after == ':' && (is_word || first.kind == Token::Kind::kNumber)) {
    lexer.skip(1);
    return define_label(first);
  }
  if (!is_word) {
    fail(first.place, first.kind == Token::Kind::kMalformed
                          ? std::string(first.text)
                          : fmt::format("`{}` where an instruction, a label or a directive is "
                                        "expected",
                                        spelled(first)));
    (void)lexer.rest();
    return;
  }
  if (!macros_.empty()) {
    if (const auto macro = macros_.find(first.text); macro != macros_.end()) {
      return call_macro(first, macro->second);
    }
  }
  if (after == '=') {
    if (!read_tokens()) return;
    const auto count = static_cast<std::uint32_t>(tokens_.size());
    if (first.text == ".") return move_to({1, count - 1}, std::nullopt, first);
    return define_constant(first.text, first.place, {1, count - 1});
  }
  return first.text[0] == '.' ? read_directive(first) : read_instruction(first);
}

/// Of text that a condition leaves out only the conditions count.
void TextAssembler::skip_statement() {
  Lexer& lexer = this->lexer();
  const char c = lexer.peek();
  if (c == '{' || c == '}') return lexer.skip(1);
  const Token first = lexer.next();
  if (lexer.peek() == ':') return lexer.skip(1);
  if (first.kind == Token::Kind::kWord && read_condition(first)) return;
  (void)lexer.rest();
}

void TextAssembler::open_bundle(Place place) {
  if (in_bundle_) fail(place, "a bundle inside a bundle");
  in_bundle_ = true;
  bundle_place_ = place;
  bundle_size_ = 0;
}

void TextAssembler::close_bundle(Place place) {
  if (!in_bundle_) {
    fail(place, "`}` without `{`");
  } else if (bundle_size_ != 2) {
    fail(bundle_place_,
         fmt::format("a bundle has two instructions, {{ main ; aux }}; this one has {}",
                     bundle_size_));
  } else {
    output_.bundles.push_back(bundle_);
  }
  in_bundle_ = false;
}

void TextAssembler::define_label(const Token& token) {
  const Value here = {output_.offset(), Value::Base::kSection, output_.current()};
  if (token.kind == Token::Kind::kNumber) {
    return symbols_.define_numeric(token.value.number, here);
  }
  NamedSymbol& symbol = symbols_.named(token.text);
  if (symbol.kind != NamedSymbol::Kind::kUndefined) {
    return fail(token.place, fmt::format("`{}` is defined twice, first at {}", token.text,
                                         text_of(symbol.place)));
  }
  symbol.kind = NamedSymbol::Kind::kLabel;
  symbol.value = here;
  symbol.mode = mode_;
  symbol.place = token.place;
}

/// The rest of the statement into `tokens_`; false, after a message, when it is malformed.
bool TextAssembler::read_tokens() {
  tokens_.clear();
  while (true) {
    const Token token = lexer().next();
    if (token.kind == Token::Kind::kEnd) return true;
    if (token.kind == Token::Kind::kMalformed) {
      fail(token.place, std::string(token.text));
      (void)lexer().rest();
      return false;
    }
    tokens_.push_back(token);
  }
}

/// The items of `tokens_` that commas separate; an empty one is reported and left out, or has no
/// tokens.
std::vector<KeptExpression> TextAssembler::split_tokens(std::size_t first, bool may_be_empty) {
  std::vector<KeptExpression> items;
  const auto size = static_cast<std::uint32_t>(tokens_.size());
  auto begin = static_cast<std::uint32_t>(first);
  int open = 0;
  for (std::uint32_t at = begin; at <= size && begin < size + 1; ++at) {
    if (at < size) {
      open += tokens_[at].is("(") ? 1 : tokens_[at].is(")") ? -1 : 0;
      if (open > 0 || !tokens_[at].is(",")) continue;
    } else if (begin == size && items.empty()) {
      break;
    }
    if (at > begin || may_be_empty) {
      items.push_back({begin, at - begin});
    } else {
      fail(tokens_[std::min(at, size - 1)].place, "an operand is missing");
    }
    begin = at + 1;
  }
  return items;
}

std::optional<Value> TextAssembler::numeric_label(const Token& token) {
  const std::vector<Value>& defined = symbols_.numeric(token.value.number);
  if (token.text.back() == 'b') {
    if (defined.empty()) return std::nullopt;
    return defined.back();
  }
  if (!is_finishing_) return kUnknown;
  if (token.value.index >= defined.size()) return std::nullopt;
  return defined[token.value.index];
}

std::optional<Value> TextAssembler::value_of(const Token& token) {
  if (token.kind == Token::Kind::kLocalLabel) return numeric_label(token);
  std::string_view name = token.text;
  if (token.kind == Token::Kind::kRegister) {
    if (const auto value = isa::constant_of(name)) return number(*value);
    if (register_of(name) || name.data()[-1] != '$') return std::nullopt;
    name = {name.data() - 1, name.size() + 1};
  } else if (name == ".") {
    return Value{dot_, Value::Base::kSection, output_.current()};
  }
  NamedSymbol* symbol = symbols_.find(name);
  if (symbol == nullptr || symbol->kind == NamedSymbol::Kind::kUndefined) {
    if (const auto value = isa::constant_of(name)) return number(*value);
    if (!is_finishing_) return kUnknown;
    if (undefined_is_error_) return std::nullopt;
    symbol = &symbols_.named(name);
  }
  return value_of(*symbol);
}

std::optional<Value> TextAssembler::value_of(NamedSymbol& symbol) {
  switch (symbol.kind) {
    case NamedSymbol::Kind::kLabel:
    case NamedSymbol::Kind::kConstant:
      return symbol.value;
    case NamedSymbol::Kind::kUndefined:
      return Value{0, Value::Base::kSymbol, symbols_.index_of(symbol)};
    case NamedSymbol::Kind::kKept:
      break;
  }
  if (!is_finishing_) return kUnknown;
  const std::uint32_t index = symbols_.index_of(symbol);
  Value value;
  if (symbol.is_being_evaluated) {
    fail(symbol.place, "`" + std::string(symbol.name) + "` is defined by itself");
  } else if (kept_depth_ == kMaxKeptDepth) {
    fail(symbol.place, fmt::format("`{}` is defined by more than {} names, each by the next one",
                                   symbol.name, kMaxKeptDepth));
  } else {
    symbol.is_being_evaluated = true;
    ++kept_depth_;
    value = evaluate_tokens(kept_, symbol.kept);
    --kept_depth_;
  }
  NamedSymbol& same = symbols_.all()[index];  // evaluation may have added symbols
  same.is_being_evaluated = false;
  same.kind = NamedSymbol::Kind::kConstant;
  same.value = value;
  return value;
}

/// The value of an expression; 0 after a message when it has none.
Value TextAssembler::evaluate_tokens(const std::vector<Token>& tokens, KeptExpression range) {
  const ExpressionResult result =
      evaluate(std::span(tokens).subspan(range.first, range.tokens), *this);
  if (!result.error.empty()) fail(result.where, result.error);
  return result.value;
}

/// A number that must be known where it stands.
std::optional<std::int64_t> TextAssembler::number_of(KeptExpression range, const Token& directive) {
  const Place place = directive.place;
  const std::string_view what = directive.text;
  if (range.tokens == 0) {
    fail(place, "a value is missing");
    return std::nullopt;
  }
  const std::uint64_t before = failures_;
  const Value value = evaluate_tokens(tokens_, range);
  if (failures_ > before) return std::nullopt;
  if (value.is_number()) return value.number;
  if (value.is_known()) {
    fail(tokens_[range.first].place, "a number is expected, not a label");
    return std::nullopt;
  }
  for (std::uint32_t i = range.first; i < range.first + range.tokens; ++i) {
    const Token& token = tokens_[i];
    const bool is_name = token.kind == Token::Kind::kWord || token.kind == Token::Kind::kRegister ||
                         token.kind == Token::Kind::kLocalLabel;
    if (!is_name || value_of(token).value_or(Value{}).is_known()) continue;
    fail(token.place, fmt::format("`{}` is not known here: `{}` needs what is defined before it",
                                  spelled(token), what));
    break;
  }
  return std::nullopt;
}

/// Keeps an expression of `tokens_` for the end, with what its names mean now.
KeptExpression TextAssembler::keep(KeptExpression range) {
  const auto first = static_cast<std::uint32_t>(kept_.size());
  for (std::uint32_t i = 0; i < range.tokens; ++i) {
    Token token = tokens_[range.first + i];
    if (token.kind == Token::Kind::kWord || token.kind == Token::Kind::kRegister ||
        token.kind == Token::Kind::kLocalLabel) {
      const std::optional<Value> value = value_of(token);
      if (value && value->is_known()) {
        token.kind = Token::Kind::kValue;
        token.value = *value;
      } else if (token.kind == Token::Kind::kLocalLabel) {
        token.value.index = static_cast<std::uint32_t>(symbols_.numeric(token.value.number).size());
      }
    }
    kept_.push_back(token);
  }
  return {first, range.tokens};
}

}  // namespace superstep::assembler
