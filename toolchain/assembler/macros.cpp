#include "toolchain/assembler/macros.h"

#include <algorithm>

namespace superstep::assembler {

namespace {

/// Reads names and values of a list whose items blanks or commas separate, as LLVM's and GNU's
/// assemblers do (graphcore/llvm-project-fork llvm/lib/MC/MCParser/AsmParser.cpp).
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() {
    skip_blanks();
    return at_ >= text_.size();
  }
  [[nodiscard]] std::string_view left() const { return text_.substr(at_); }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view take_name() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// `name` of `name=value`, or empty.
  std::string_view take_keyword() {
    const std::size_t begin = at_;
    const std::string_view name = take_name();
    skip_blanks();
    const bool is_keyword = !name.empty() && at_ < text_.size() && text_[at_] == '=' &&
                            (at_ + 1 >= text_.size() || text_[at_ + 1] != '=');
    if (is_keyword) {
      ++at_;
      return name;
    }
    at_ = begin;
    return {};
  }

  /// Up to a comma, or a blank that no operator follows or precedes, outside parentheses.
  MacroArgument take_value() {
    MacroArgument value;
    int open = 0;
    skip_blanks();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (open == 0 && c == ',') break;
      if (open == 0 && is_blank(c)) {
        skip_blanks();
        if (at_ >= text_.size() || !is_operator(text_[at_])) break;
        continue;
      }
      value.is_given = true;
      if (c == '"') {
        take_string(value.text);
        continue;
      }
      open += c == '(' ? 1 : c == ')' && open > 0 ? -1 : 0;
      value.text += c;
      ++at_;
      if (open == 0 && is_operator(c)) {
        while (at_ < text_.size() && is_operator(text_[at_])) value.text += text_[at_++];
        skip_blanks();
      }
    }
    is_balanced_ = open == 0;
    return value;
  }

  [[nodiscard]] bool is_balanced() const { return is_balanced_; }

 private:
  static bool is_operator(char c) {
    return std::string_view("+-~/*=|^&!<>").find(c) != std::string_view::npos;
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  void take_string(std::string& out) {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) out += text_[at_++];
      out += text_[at_];
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_balanced_ = true;
};

std::size_t index_of(std::span<const Macro::Parameter> parameters, std::string_view name) {
  std::size_t i = 0;
  while (i < parameters.size() && parameters[i].name != name) ++i;
  return i;
}

}  // namespace

std::vector<Macro::Parameter> parse_parameters(std::string_view text, const Lexer& lexer,
                                               std::vector<MacroError>& errors) {
  std::vector<Macro::Parameter> parameters;
  Reader reader(text);
  (void)reader.take(',');
  while (!reader.at_end()) {
    Macro::Parameter parameter;
    parameter.name = reader.take_name();
    if (parameter.name.empty()) {
      errors.push_back({"a parameter of a macro is a name", lexer.place_of(reader.left())});
      break;
    }
    if (index_of(parameters, parameter.name) < parameters.size()) {
      errors.push_back({"parameter `" + std::string(parameter.name) + "` occurs twice",
                        lexer.place_of(parameter.name)});
    }
    if (!parameters.empty() && parameters.back().is_rest) {
      errors.push_back({"a parameter after the `:vararg` one", lexer.place_of(parameter.name)});
    }
    if (reader.take(':')) {
      const std::string_view kind = reader.take_name();
      parameter.is_required = kind == "req";
      parameter.is_rest = kind == "vararg";
      if (!parameter.is_required && !parameter.is_rest) {
        errors.push_back({"a parameter is `name`, `name=default`, `name:req` or `name:vararg`",
                          lexer.place_of(parameter.name)});
      }
    }
    if (reader.take('=')) parameter.initial = reader.take_value().text;
    parameters.push_back(std::move(parameter));
    (void)reader.take(',');
  }
  return parameters;
}

std::vector<std::string> parse_arguments(const Macro& macro, std::string_view name,
                                         std::string_view text, const Lexer& lexer,
                                         std::vector<MacroError>& errors) {
  const std::vector<Macro::Parameter>& parameters = macro.parameters;
  std::vector<MacroArgument> given(parameters.size());
  Reader reader(text);
  bool by_name = false;
  for (std::size_t position = 0; !reader.at_end(); ++position) {
    const std::string_view left = reader.left();
    const std::string_view keyword =
        parameters.empty() ? std::string_view{} : reader.take_keyword();
    by_name |= !keyword.empty();
    const std::size_t target = keyword.empty() ? position : index_of(parameters, keyword);
    if (target >= parameters.size()) {
      errors.push_back({keyword.empty()
                            ? "macro `" + std::string(name) + "` takes " +
                                  std::to_string(parameters.size()) + " values; there are more"
                            : "macro `" + std::string(name) + "` has no parameter `" +
                                  std::string(keyword) + "`",
                        lexer.place_of(left)});
      break;
    }
    if (by_name && keyword.empty()) {
      errors.push_back({"a value without a name after one with a name", lexer.place_of(left)});
      break;
    }
    if (parameters[target].is_rest) {
      given[target] = {std::string(reader.left()), true};
      break;
    }
    const MacroArgument value = reader.take_value();
    if (!reader.is_balanced()) {
      errors.push_back({"`)` is missing in a value for a macro", lexer.place_of(left)});
    }
    if (value.is_given) given[target] = value;
    (void)reader.take(',');
  }
  std::vector<std::string> values;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!given[i].is_given && parameters[i].is_required) {
      errors.push_back({"macro `" + std::string(name) + "` needs a value for `" +
                            std::string(parameters[i].name) + "`",
                        lexer.place_of(text)});
    }
    values.push_back(given[i].is_given ? given[i].text : parameters[i].initial);
  }
  return values;
}

std::vector<std::string> parse_values(std::string_view text) {
  std::vector<std::string> values;
  Reader reader(text);
  while (!reader.at_end()) {
    values.push_back(reader.take_value().text);
    (void)reader.take(',');
  }
  return values;
}

std::vector<std::string> parse_characters(std::string_view text) {
  const bool is_string = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  if (is_string) text = text.substr(1, text.size() - 2);
  std::vector<std::string> values;
  for (const char c : text) {
    if (is_string || !is_blank(c)) values.emplace_back(1, c);
  }
  return values;
}

Expansion substitute(std::string_view body, Place body_place,
                     std::span<const Macro::Parameter> parameters,
                     std::span<const std::string> arguments, std::uint64_t call) {
  Expansion made;
  made.body = body_place;
  made.text.reserve(body.size() + body.size() / 4);
  std::size_t at = 0;
  // Text that stands for `length` characters of the body.
  const auto replace = [&](std::string_view by, std::size_t length) {
    const auto place = [&](bool is_fixed) {
      made.edits.push_back(
          {static_cast<std::uint32_t>(made.text.size()), static_cast<std::uint32_t>(at), is_fixed});
    };
    if (!by.empty()) place(true);
    made.text += by;
    at += length;
    place(false);
  };
  while (at < body.size()) {
    const std::size_t slash = std::min(body.find('\\', at), body.size());
    made.text += body.substr(at, slash - at);
    at = slash;
    if (at >= body.size()) break;
    const std::string_view left = body.substr(at + 1);
    if (left.starts_with("()")) {
      replace({}, 3);
      continue;
    }
    if (left.starts_with('@')) {
      replace(std::to_string(call), 2);
      continue;
    }
    // The preprocessor writes `\ a6` when the name of a parameter is one of its own macros.
    std::size_t blanks = 0;
    while (blanks < left.size() && is_blank(left[blanks])) ++blanks;
    std::size_t length = blanks;
    while (length < left.size() && is_name_character(left[length])) ++length;
    const std::size_t parameter = index_of(parameters, left.substr(blanks, length - blanks));
    if (length > blanks && parameter < parameters.size()) {
      replace(arguments[parameter], length + 1);
    } else {
      made.text += body.substr(at, length + 1);
      at += length + 1;
    }
  }
  return made;
}

}  // namespace superstep::assembler
