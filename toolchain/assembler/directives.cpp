#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "toolchain/assembler/text_assembler.h"

namespace superstep::assembler {

namespace {

constexpr std::int64_t kMaxAlignment = 1 << 16;

std::string_view unquoted(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  return text;
}

std::string_view usual_flags(std::string_view section) {
  if (section.starts_with(".text")) return "ax";
  if (section.starts_with(".rodata")) return "a";
  if (section.starts_with(".data") || section.starts_with(".bss")) return "aw";
  return "";
}

}  // namespace

const std::unordered_map<std::string_view, TextAssembler::Directive>& TextAssembler::directives() {
  using T = TextAssembler;
  static const std::unordered_map<std::string_view, Directive> all = {
      {".macro", &T::begin_macro},
      {".purgem", &T::remove_macro},
      {".exitm", &T::leave_macro},
      {".endm", &T::misplaced},
      {".endmacro", &T::misplaced},
      {".rept", &T::repeat},
      {".rep", &T::repeat},
      {".irp", &T::repeat_values},
      {".irpc", &T::repeat_values},
      {".endr", &T::misplaced},
      {".error", &T::report_error},
      {".err", &T::report_error},
      {".section", &T::begin_section},
      {".text", &T::begin_section},
      {".data", &T::begin_section},
      {".bss", &T::begin_section},
      {".rodata", &T::begin_section},
      {".pushsection", &T::push_section},
      {".popsection", &T::pop_section},
      {".previous", &T::previous_section},
      {".align", &T::align},
      {".balign", &T::align},
      {".p2align", &T::align},
      {".org", &T::set_origin},
      {".worker", &T::set_mode},
      {".supervisor", &T::set_mode},
      {".allow_invalid_execution_mode", &T::set_mode_check},
      {".error_on_invalid_execution_mode", &T::set_mode_check},
      {".globl", &T::export_names},
      {".global", &T::export_names},
      {".weak", &T::export_names},
      {".extern", &T::declare_names},
      {".local", &T::declare_names},
      {".hidden", &T::declare_names},
      {".protected", &T::declare_names},
      {".internal", &T::declare_names},
      {".size", &T::set_size},
      {".equ", &T::set_constant},
      {".set", &T::set_constant},
      {".equiv", &T::set_constant},
      {".byte", &T::add_integers},
      {".half", &T::add_integers},
      {".short", &T::add_integers},
      {".hword", &T::add_integers},
      {".2byte", &T::add_integers},
      {".int", &T::add_integers},
      {".long", &T::add_integers},
      {".word", &T::add_integers},
      {".4byte", &T::add_integers},
      {".quad", &T::add_integers},
      {".8byte", &T::add_integers},
      {".float", &T::add_reals},
      {".single", &T::add_reals},
      {".double", &T::add_reals},
      {".ascii", &T::add_strings},
      {".asciz", &T::add_strings},
      {".string", &T::add_strings},
      {".zero", &T::add_space},
      {".space", &T::add_space},
      {".skip", &T::add_space},
      {".fill", &T::fill},
      {".end", &T::end_text},
      {".type", &T::ignore},
      {".file", &T::ignore},
      {".ident", &T::ignore},
      {".loc", &T::ignore},
      {".warning", &T::ignore},
      {".allow_optimizations", &T::ignore},
  };
  return all;
}

void TextAssembler::read_directive(const Token& directive) {
  if (read_condition(directive)) return;
  const auto found = directives().find(directive.text);
  if (found != directives().end()) return (this->*found->second)(directive);
  (void)lexer().rest();
  if (directive.text.starts_with(".cfi_")) return;
  std::vector<std::string> names;
  for (const auto& [name, function] : directives()) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  const std::string near = nearest(std::string(directive.text), names);
  fail(directive.place, "`" + std::string(directive.text) + "` is no directive" +
                            (near.empty() ? "" : "; did you mean `" + near + "`?"));
}

void TextAssembler::ignore(const Token&) { (void)lexer().rest(); }

void TextAssembler::report_error(const Token& directive) {
  const std::string_view text = unquoted(lexer().rest());
  fail(directive.place, text.empty() ? "`.error`" : std::string(text));
}

void TextAssembler::enter_section(std::string_view name, std::string_view flags) {
  if (in_bundle_) fail(bundle_place_, "a section begins inside a bundle");
  previous_section_ = output_.current();
  output_.enter(name, flags);
}

/// `.section name, "flags"`, or the name of a usual section.
void TextAssembler::begin_section(const Token& directive) {
  std::string_view text = lexer().rest();
  if (directive.text != ".section" && directive.text != ".pushsection") {
    return enter_section(directive.text, usual_flags(directive.text));
  }
  const std::size_t comma = text.find(',');
  const std::string_view name = unquoted(text.substr(0, comma));
  if (name.empty()) return fail(directive.place, "`.section name, \"flags\"` is expected");
  if (comma == std::string_view::npos) return enter_section(name, usual_flags(name));
  text.remove_prefix(comma + 1);
  const std::string_view flags = unquoted(text.substr(0, text.find(',')));
  // What GNU as knows besides changes nothing for a tile.
  const std::size_t unknown = flags.find_first_not_of("awxMSGTReod?");
  if (unknown != std::string_view::npos) {
    return fail(directive.place, fmt::format("`{}` is no flag of a section; the usual ones are `a` "
                                             "(in memory), `w` (written) and `x` (code)",
                                             flags[unknown]));
  }
  enter_section(name, flags);
}

void TextAssembler::push_section(const Token& directive) {
  pushed_sections_.push_back({output_.current(), previous_section_});
  begin_section(directive);
}

void TextAssembler::pop_section(const Token& directive) {
  if (pushed_sections_.empty()) {
    return fail(directive.place, "`.popsection` without `.pushsection`");
  }
  output_.enter(pushed_sections_.back().current);
  previous_section_ = pushed_sections_.back().previous;
  pushed_sections_.pop_back();
}

void TextAssembler::previous_section(const Token&) {
  const std::uint32_t current = output_.current();
  output_.enter(previous_section_);
  previous_section_ = current;
}

/// `.align bytes, filling, most` and `.balign`; `.p2align` has the power of two. Without a filling
/// it is `nop` in code and 0 in data; when more than `most` bytes are needed there are none.
void TextAssembler::align(const Token& directive) {
  if (!read_tokens()) return;
  const std::vector<KeptExpression> items = split_tokens(0, true);
  if (items.empty() || items.size() > 3) {
    return fail(directive.place,
                fmt::format("`{} bytes, filling, most bytes` is expected", directive.text));
  }
  const auto given = [&](std::size_t i) { return i < items.size() && items[i].tokens != 0; };
  std::optional<std::int64_t> bytes = number_of(items[0], directive);
  const auto filling = given(1) ? number_of(items[1], directive) : 0;
  const auto most = given(2) ? number_of(items[2], directive) : 0;  // 0 is no limit
  if (!bytes || !filling || !most) return;
  if (directive.text == ".p2align") bytes = *bytes >= 0 && *bytes <= 16 ? 1LL << *bytes : -1;
  if (*bytes == 0) bytes = 1;
  if (*bytes < 1 || *bytes > kMaxAlignment ||
      !std::has_single_bit(static_cast<std::uint64_t>(*bytes))) {
    return fail(tokens_[0].place,
                fmt::format("an alignment is a power of two of bytes, at most {}", kMaxAlignment));
  }
  const auto alignment = static_cast<std::uint32_t>(*bytes);
  const std::uint32_t padding = output_.padding(alignment);
  if (!has_room(padding, directive.place) || (*most > 0 && padding > *most)) return;
  if (given(1)) {
    output_.add_filled(padding, static_cast<std::uint8_t>(*filling));
  }
  output_.align(alignment, isa::kNop);
}

/// `.org target, filling`.
void TextAssembler::set_origin(const Token& directive) {
  if (!read_tokens()) return;
  const std::vector<KeptExpression> items = split_tokens(0);
  if (items.empty() || items.size() > 2) {
    return fail(directive.place, "`.org offset, filling` is expected");
  }
  move_to(items[0], items.size() == 2 ? std::optional(items[1]) : std::nullopt, directive);
}

/// Goes on at an offset of the section, or at a label in it with a distance.
void TextAssembler::move_to(KeptExpression target, std::optional<KeptExpression> filling,
                            const Token& directive) {
  const auto value = filling ? number_of(*filling, directive) : 0;
  if (!value) return;
  if (target.tokens == 0) return fail(directive.place, "a value is missing");
  const std::uint64_t before = failures_;
  Value to = evaluate_tokens(tokens_, target);
  if (failures_ > before) return;
  if (to.base == Value::Base::kSection && to.index == output_.current())
    to.base = Value::Base::kNone;
  if (!to.is_number() || to.number < output_.offset()) {
    return fail(
        tokens_[target.first].place,
        fmt::format("a place in this section from its byte {} on is expected", output_.offset()));
  }
  const auto bytes = static_cast<std::uint64_t>(to.number) - output_.offset();
  if (has_room(bytes, directive.place)) {
    output_.add_filled(bytes, static_cast<std::uint8_t>(*value));
  }
}

/// Nothing behind `.end` counts.
void TextAssembler::end_text(const Token&) {
  conditionals_.reduce_to(0);
  frames_.clear();
  frames_.emplace_back();
}

void TextAssembler::set_mode(const Token& directive) {
  mode_ = directive.text == ".worker" ? Object::Mode::kWorker : Object::Mode::kSupervisor;
  has_mode_ = true;
  // A label has the mode of the instruction at it: PopLibs also switches right after labels.
  for (NamedSymbol& symbol : symbols_.all()) {
    const bool is_here = symbol.kind == NamedSymbol::Kind::kLabel &&
                         symbol.value.index == output_.current() &&
                         symbol.value.number == output_.offset();
    if (is_here) symbol.mode = mode_;
  }
}

/// Names: graphcore/llvm-project-fork llvm/test/MC/Colossus/csr-mode-checking.s.
void TextAssembler::set_mode_check(const Token& directive) {
  checks_mode_ = directive.text == ".error_on_invalid_execution_mode";
}

void TextAssembler::export_names(const Token&) {
  if (!read_tokens()) return;
  for (const KeptExpression& item : split_tokens(0)) {
    const Token& name = tokens_[item.first];
    if (name.kind == Token::Kind::kWord) {
      symbols_.named(name.text).is_global = true;
    } else if (!name.is("@")) {  // PopLibs writes `.globl name, @function` once
      fail(name.place, "a name is expected");
    }
  }
}

/// Names of other objects need no declaration; `.local` and `.hidden` change nothing for a tile.
void TextAssembler::declare_names(const Token&) { (void)lexer().rest(); }

void TextAssembler::set_size(const Token& directive) {
  if (!read_tokens()) return;
  const std::vector<KeptExpression> items = split_tokens(0);
  if (items.size() != 2 || tokens_[items[0].first].kind != Token::Kind::kWord) {
    return fail(directive.place, "`.size name, bytes` is expected");
  }
  const KeptExpression size = keep(items[1]);
  NamedSymbol& symbol = symbols_.named(tokens_[items[0].first].text);
  symbol.size = size;
}

void TextAssembler::set_constant(const Token& directive) {
  if (!read_tokens()) return;
  const bool is_name = tokens_.size() >= 2 && tokens_[1].is(",");
  if (!is_name ||
      (tokens_[0].kind != Token::Kind::kWord && tokens_[0].kind != Token::Kind::kRegister)) {
    return fail(directive.place, "`" + std::string(directive.text) + " name, value` is expected");
  }
  std::string_view name = tokens_[0].text;
  if (tokens_[0].kind == Token::Kind::kRegister) {
    if (register_of(name) || name.data()[-1] != '$') {
      return fail(tokens_[0].place, "a register cannot be set to a value");
    }
    name = {name.data() - 1, name.size() + 1};
  }
  const KeptExpression value{2, static_cast<std::uint32_t>(tokens_.size() - 2)};
  if (name == ".") return move_to(value, std::nullopt, directive);
  const NamedSymbol* known = symbols_.find(name);
  if (directive.text == ".equiv" && known != nullptr &&
      known->kind != NamedSymbol::Kind::kUndefined) {
    return fail(tokens_[0].place,
                fmt::format("`{}` is defined already, at {}; `.equ` may set a name again", name,
                            text_of(known->place)));
  }
  define_constant(name, tokens_[0].place, value);
}

/// Later definitions of a constant count for what comes after them.
void TextAssembler::define_constant(std::string_view name, Place place, KeptExpression value) {
  if (value.tokens == 0) return fail(place, "a value is missing");
  const std::uint64_t before = failures_;
  const Value now = evaluate_tokens(tokens_, value);
  const KeptExpression kept = now.is_known() ? KeptExpression{} : keep(value);
  NamedSymbol& symbol = symbols_.named(name);
  if (symbol.kind == NamedSymbol::Kind::kLabel) {
    return fail(place, fmt::format("`{}` is a label already, at {}", name, text_of(symbol.place)));
  }
  if (failures_ > before) return;
  symbol.kind = now.is_known() ? NamedSymbol::Kind::kConstant : NamedSymbol::Kind::kKept;
  symbol.value = now;
  symbol.kept = kept;
  symbol.place = place;
}

}  // namespace superstep::assembler
