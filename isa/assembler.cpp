#include "isa/assembler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "isa/assembly_expression.h"
#include "isa/assembly_tokens.h"
#include "isa/registers.h"
#include "isa/table.h"

namespace superstep {

namespace {

using isa::AssemblyResult;
using isa::AssemblyValue;
using isa::File;
using isa::InstructionInfo;
using isa::OperandInfo;
using isa::Role;
using isa::Token;
using Tokens = std::span<const Token>;

/// A register, or an expression.
struct Operand {
  bool is_register = false;
  File file = File::kMain;
  std::uint32_t number = 0;
  unsigned count = 1;
  std::string suffix;
  Tokens expression;
  Token where;
};

/// Half of a bundle, or none.
enum class Seat : std::uint8_t { kSolo, kMain, kAux };

struct Statement {
  enum class Kind : std::uint8_t { kInstruction, kConstant, kAlign, kData };
  Kind kind = Kind::kInstruction;
  std::string name;  ///< mnemonic or constant
  std::vector<Operand> operands;
  Seat seat = Seat::kSolo;
  std::uint32_t address = 0;
  std::uint32_t words = 1;
  Token where;
};

struct LocalLabel {
  std::int64_t number;
  std::size_t statement;  ///< it stands before this one
  std::uint32_t address;
};

struct RegisterName {
  File file;
  std::uint32_t number;
  unsigned count = 1;
};

std::optional<RegisterName> register_of(const std::string& name) {
  static const std::map<std::string, RegisterName, std::less<>> aliases = {
      {"mzero", {File::kMain, isa::kZero}},
      {"azero", {File::kAux, isa::kZero}},
      {"azeros", {File::kAux, 14, 2}},
      {"bp", {File::kMain, isa::kBasePointer}},
      {"fp", {File::kMain, isa::kFramePointer}},
      {"lr", {File::kMain, isa::kLinkRegister}},
      {"sp", {File::kMain, isa::kStackPointer}},
      {"mworker_base", {File::kMain, isa::kWorkerBase}},
      {"mvertex_base", {File::kMain, isa::kVertexBase}},
  };
  if (const auto found = aliases.find(name); found != aliases.end()) return found->second;
  if (name.size() < 2 || name.size() > 3 || (name[0] != 'm' && name[0] != 'a')) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  for (const char c : name.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  if (number > 15) return std::nullopt;
  return RegisterName{name[0] == 'm' ? File::kMain : File::kAux, number};
}

/// `add $m, $m, signed 16-bit`: a form as the user would write it.
std::string form_text(const InstructionInfo& info) {
  std::string text(info.mnemonic);
  const char* separator = " ";
  for (const OperandInfo& operand : info.operands) {
    text += separator;
    separator = ", ";
    if (operand.is_register) {
      constexpr const char* kWidths[] = {"", "", " pair", "", " quad"};
      text += operand.file == File::kMain ? "$m" : "$a";
      text += kWidths[operand.count] + operand.suffix;
    } else if (operand.is_address) {
      text += "label";
    } else {
      text += fmt::format("{} {}-bit number", operand.is_signed ? "signed" : "unsigned",
                          operand.field.width + operand.tail);
    }
  }
  return text;
}

class Assembler {
 public:
  Assembler(std::string_view text, const std::string& file)
      : file_(file), tokens_(isa::tokenize(text, file, problems_)) {}

  Assembly run() {
    parse();
    constants_.clear();
    for (std::size_t i = 0; i < statements_.size(); ++i) emit(i);
    check_repeats();
    if (!problems_.empty()) {
      std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
        return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
      });
      throw MalformedInput(std::move(problems_));
    }
    for (const auto& [name, address] : labels_) result_.symbols[name] = address;
    return std::move(result_);
  }

 private:
  void fail(const Token& where, std::string message) {
    problems_.push_back({{file_, where.line, where.column}, std::move(message)});
  }

  // --- First pass: statements and addresses.

  void parse() {
    std::size_t at = 0;
    while (at < tokens_.size()) {
      const Token& token = tokens_[at];
      if (token.kind == Token::Kind::kEndOfStatement) {
        ++at;
      } else if (token.is("{")) {
        open_bundle(token);
        ++at;
      } else if (token.is("}")) {
        close_bundle(token);
        ++at;
      } else if (at + 1 < tokens_.size() && tokens_[at + 1].is(":") &&
                 (token.kind == Token::Kind::kWord || token.kind == Token::Kind::kNumber)) {
        define_label(token);
        at += 2;
      } else {
        at = parse_statement(at);
      }
    }
    if (in_bundle_) fail(bundle_, "a bundle is not closed by `}`");
  }

  void open_bundle(const Token& token) {
    if (in_bundle_) fail(token, "a bundle inside a bundle");
    in_bundle_ = true;
    bundle_ = token;
    bundle_size_ = 0;
  }

  void close_bundle(const Token& token) {
    if (!in_bundle_) {
      fail(token, "`}` without `{`");
    } else if (bundle_size_ != 2) {
      fail(bundle_,
           fmt::format("a bundle of {} instructions; it has two: {{ main ; aux }}", bundle_size_));
    }
    in_bundle_ = false;
  }

  void define_label(const Token& token) {
    if (token.kind == Token::Kind::kNumber) {
      local_labels_.push_back({token.value, statements_.size(), address_});
    } else if (!labels_.emplace(token.text, address_).second) {
      fail(token, "label `" + token.text + "` is defined twice");
    }
  }

  [[nodiscard]] std::size_t end_of_statement(std::size_t at) const {
    while (tokens_[at].kind != Token::Kind::kEndOfStatement && !tokens_[at].is("}")) ++at;
    return at;
  }

  std::size_t parse_statement(std::size_t at) {
    const Token& first = tokens_[at];
    const std::size_t end = end_of_statement(at);
    if (first.kind != Token::Kind::kWord) {
      fail(first, "an instruction, a label or a directive is expected");
      return end;
    }
    Statement statement;
    statement.where = first;
    statement.name = first.text;
    statement.address = address_;
    statement.operands = parse_operands(Tokens(tokens_).subspan(at + 1, end - at - 1));
    if (first.text[0] == '.') {
      parse_directive(std::move(statement));
    } else {
      add_instruction(std::move(statement));
    }
    return end;
  }

  std::vector<Operand> parse_operands(Tokens tokens) {
    std::vector<Operand> operands;
    while (!tokens.empty()) {
      std::size_t length = 0;
      int depth = 0;
      while (length < tokens.size() && (depth > 0 || !tokens[length].is(","))) {
        depth += tokens[length].is("(") ? 1 : tokens[length].is(")") ? -1 : 0;
        ++length;
      }
      if (length == 0) {
        fail(tokens[0], "an operand is missing");
      } else {
        operands.push_back(parse_operand(tokens.first(length)));
      }
      tokens = tokens.subspan(std::min(length + 1, tokens.size()));
    }
    return operands;
  }

  Operand parse_operand(Tokens tokens) {
    Operand operand;
    operand.where = tokens[0];
    operand.expression = tokens;
    if (tokens[0].kind != Token::Kind::kRegister) return operand;
    const std::optional<RegisterName> name = register_of(tokens[0].text);
    if (!name) return operand;
    operand.is_register = true;
    operand.file = name->file;
    operand.number = name->number;
    operand.count = name->count;
    std::size_t at = 1;
    if (at + 1 < tokens.size() && tokens[at].is(":")) {
      if (tokens[at + 1].kind == Token::Kind::kNumber) {
        const std::int64_t last = tokens[at + 1].value;
        const std::int64_t count = last - operand.number + 1;
        if ((count != 2 && count != 4) || operand.number % count != 0 || last > 15) {
          fail(tokens[0],
               fmt::format("`${}:{}` is no register pair or quad; pairs begin at an even "
                           "number, quads at a multiple of 4",
                           tokens[0].text, last));
        } else {
          operand.count = static_cast<unsigned>(count);
        }
      } else {
        operand.suffix = ":" + tokens[at + 1].text;
      }
      at += 2;
    }
    for (; at < tokens.size(); ++at) operand.suffix += tokens[at].text;
    return operand;
  }

  void parse_directive(Statement statement) {
    static const std::vector<std::string> kIgnored = {".text",   ".globl",      ".global",
                                                      ".type",   ".size",       ".section",
                                                      ".worker", ".supervisor", ".extern"};
    const std::string& name = statement.name;
    if (name == ".equ" || name == ".set") {
      if (statement.operands.size() != 2 || statement.operands[0].is_register) {
        return fail(statement.where, "`" + name + " name, value` is expected");
      }
      statement.kind = Statement::Kind::kConstant;
      statement.words = 0;
      define_constant(statement, false);
    } else if (name == ".align") {
      statement.kind = Statement::Kind::kAlign;
      statement.words = padding_of(statement);
    } else if (name == ".int" || name == ".word" || name == ".long") {
      statement.kind = Statement::Kind::kData;
      statement.words = static_cast<std::uint32_t>(statement.operands.size());
    } else if (std::find(kIgnored.begin(), kIgnored.end(), name) != kIgnored.end()) {
      return;
    } else {
      const std::string near = nearest(name, {".equ", ".set", ".align", ".int", ".word", ".globl"});
      return fail(statement.where, "`" + name + "` is no directive" +
                                       (near.empty() ? "" : "; did you mean `" + near + "`?"));
    }
    if (in_bundle_) fail(statement.where, "a directive inside a bundle");
    push(std::move(statement));
  }

  std::uint32_t padding_of(const Statement& statement) {
    const AssemblyValue size = statement.operands.size() == 1
                                   ? value_of(statement.operands[0], statements_.size(), true)
                                   : AssemblyValue{};
    if (size.number != 4 && size.number != 8 && size.number != 16 && size.number != 32) {
      fail(statement.where, "`.align` takes 4, 8, 16 or 32 bytes");
      return 0;
    }
    const std::uint32_t bytes = static_cast<std::uint32_t>(size.number);
    return (bytes - address_ % bytes) % bytes / 4;
  }

  void add_instruction(Statement statement) {
    if (in_bundle_) {
      statement.seat = bundle_size_ == 0 ? Seat::kMain : Seat::kAux;
      ++bundle_size_;
    }
    if (statement.name == "ldconst") {
      if (in_bundle_) fail(statement.where, "`ldconst` may take two words: not in a bundle");
      if (statement.operands.size() == 2) {
        const AssemblyValue value = value_of(statement.operands[1], statements_.size(), true);
        statement.words = (static_cast<std::uint32_t>(value.number) >> 20) == 0 ? 1 : 2;
      }
    }
    push(std::move(statement));
  }

  void push(Statement statement) {
    address_ += 4 * statement.words;
    statements_.push_back(std::move(statement));
  }

  // --- Expressions.

  std::optional<AssemblyValue> symbol(const Token& token, std::size_t statement) const {
    if (token.kind == Token::Kind::kLocalLabel) return local_label(token, statement);
    if (token.kind == Token::Kind::kRegister) {
      if (const auto value = isa::constant_of(token.text)) return AssemblyValue{*value};
      return std::nullopt;
    }
    if (token.text == ".") {
      const bool known = statement < statements_.size();
      return AssemblyValue{known ? statements_[statement].address : address_, 1};
    }
    if (const auto found = constants_.find(token.text); found != constants_.end()) {
      return found->second;
    }
    if (const auto found = labels_.find(token.text); found != labels_.end()) {
      return AssemblyValue{found->second, 1};
    }
    if (const auto value = isa::constant_of(token.text)) return AssemblyValue{*value};
    return std::nullopt;
  }

  std::optional<AssemblyValue> local_label(const Token& token, std::size_t statement) const {
    std::optional<AssemblyValue> before;
    for (const LocalLabel& label : local_labels_) {
      if (label.number != token.value) continue;
      if (label.statement <= statement) {
        before = AssemblyValue{label.address, 1};
      } else if (token.text == "f") {
        return AssemblyValue{label.address, 1};
      }
    }
    return token.text == "b" ? before : std::nullopt;
  }

  AssemblyValue value_of(const Operand& operand, std::size_t statement, bool report) {
    if (operand.is_register) {
      if (report) fail(operand.where, "a register where a value is expected");
      return {};
    }
    const isa::AssemblyScope scope{[&](const Token& token) { return symbol(token, statement); }};
    const AssemblyResult result = isa::evaluate(operand.expression, scope);
    if (!result.error.empty() && report) {
      fail(result.where == nullptr ? operand.where : *result.where, result.error);
    }
    return result.value;
  }

  void define_constant(const Statement& statement, bool report) {
    const Token& name = statement.operands[0].where;
    constants_[name.text] = value_of(statement.operands[1], statements_.size(), report);
  }

  // --- Second pass: words.

  void emit(std::size_t index) {
    const Statement& statement = statements_[index];
    switch (statement.kind) {
      case Statement::Kind::kConstant:
        constants_[statement.operands[0].where.text] = value_of(statement.operands[1], index, true);
        return;
      case Statement::Kind::kAlign:
        for (std::uint32_t i = 0; i < statement.words; ++i) {
          result_.words.push_back(isa::kNop);
        }
        return;
      case Statement::Kind::kData:
        for (const Operand& operand : statement.operands) {
          result_.words.push_back(
              static_cast<std::uint32_t>(value_of(operand, index, true).number));
        }
        return;
      case Statement::Kind::kInstruction:
        emit_instruction(index);
        return;
    }
  }

  void emit_instruction(std::size_t index) {
    const Statement& statement = statements_[index];
    const std::size_t expected = result_.words.size() + statement.words;
    if (statement.name == "ldconst") {
      emit_constant(statement, index);
    } else {
      emit_words(rewritten(statement), index);
    }
    result_.words.resize(expected);
  }

  void emit_constant(const Statement& statement, std::size_t index) {
    if (statement.operands.size() != 2 || !statement.operands[0].is_register ||
        statement.operands[0].count != 1) {
      return fail(statement.where, "`ldconst register, value` is expected");
    }
    const AssemblyValue value = value_of(statement.operands[1], index, true);
    if (value.labels != 0) return fail(statement.where, "`ldconst` of a label; use `setzi`");
    if (value.number < -(std::int64_t{1} << 31) || value.number >= std::int64_t{1} << 32) {
      return fail(statement.operands[1].where, "a value beyond 32 bits");
    }
    const bool main = statement.operands[0].file == File::kMain;
    const std::int64_t target = statement.operands[0].number;
    const auto bits = static_cast<std::uint32_t>(value.number);
    const std::uint32_t aux_bit = main ? 0 : 0x03000000U;
    result_.words.push_back(encode("setzi", {target, bits & 0xfffffU}) ^ aux_bit);
    if (statement.words == 1) return;
    for (const InstructionInfo& info : isa::instruction_table()) {
      if (info.spec.syntax != "or $d, $a, i<<20") continue;
      if ((info.operands[0].file == File::kMain) != main) continue;
      result_.words.push_back(info.pattern.value | info.operands[0].encode(target) |
                              info.operands[1].encode(target) |
                              info.operands[2].encode(bits & 0xfff00000U));
    }
  }

  /// The statement with its alias replaced by the instruction it stands for.
  Statement rewritten(Statement statement) {
    std::vector<Operand>& operands = statement.operands;
    const auto is = [&](std::size_t count, auto&&... name) {
      return operands.size() == count && ((statement.name == name) || ...);
    };
    const bool main =
        !operands.empty() && operands[0].is_register && operands[0].file == File::kMain;
    if (is(0, "nop", "fnop")) {
      operands = {zero_register(statement.name == "nop" ? File::kMain : File::kAux, 1), literal(0)};
      operands[0].number = statement.name == "nop" ? isa::kReadOnly : 13;
      statement.name = "setzi";
    } else if (is(1, "zero")) {
      const Operand zero = zero_register(operands[0].file, operands[0].count);
      operands = {operands[0], zero, zero};
      statement.name = zero.count == 2 ? "or64" : "or";
    } else if (is(2, "get") && operands[0].is_register && operands[0].file == File::kAux) {
      statement.name = "uget";
    } else if (is(2, "put") && operands[1].is_register && operands[1].file == File::kAux) {
      statement.name = "uput";
    } else if (is(2, "mov")) {
      if (main && operands[1].is_register && operands[1].file == File::kAux) {
        statement.name = "atom";
      } else if (operands[0].count == 2) {
        operands.push_back(zero_register(File::kAux, 2));
        statement.name = "or64";
      } else {
        operands.push_back(literal(0));
        statement.name = "or";
      }
    } else if (is(2, "swap16")) {
      operands.push_back(operands[1]);
      statement.name = "roll16";
    } else if (is(3, "sub") && main && operands[1].is_register && !operands[2].is_register) {
      negate(operands[2]);
      statement.name = "add";
    }
    return statement;
  }

  static Operand zero_register(File file, unsigned count) {
    Operand operand;
    operand.is_register = true;
    operand.file = file;
    operand.number = count == 2 ? 14 : isa::kZero;
    operand.count = count;
    return operand;
  }

  static Operand literal(std::int64_t value) {
    static const std::vector<Token> kZeroToken = {{Token::Kind::kNumber, "", 0, 0, 0}};
    Operand operand;
    SUPERSTEP_CHECK(value == 0, "the aliases use 0 only");
    operand.expression = kZeroToken;
    return operand;
  }

  void negate(Operand& operand) {
    auto tokens = std::make_unique<std::vector<Token>>();
    const auto mark = [&](const char* text) {
      Token token = operand.where;
      token.kind = Token::Kind::kPunctuation;
      token.text = text;
      tokens->push_back(token);
    };
    mark("-");
    mark("(");
    tokens->insert(tokens->end(), operand.expression.begin(), operand.expression.end());
    mark(")");
    operand.expression = *tokens;
    made_.push_back(std::move(tokens));
  }

  void emit_words(const Statement& statement, std::size_t index) {
    const InstructionInfo* only = nullptr;
    std::vector<std::string> forms;
    // PopLibs writes $azero where a zero of the main file is meant; an exact match goes first.
    for (const bool any_zero : {false, true}) {
      for (const InstructionInfo& info : isa::instruction_table()) {
        if (info.mnemonic != statement.name) continue;
        if (!any_zero) forms.push_back(form_text(info));
        only = &info;
        std::vector<Operand> operands = statement.operands;
        if (operands.size() + 1 == info.operands.size() && has_delta(info)) {
          operands.insert(operands.begin() + 2, zero_register(File::kMain, 1));
        }
        if (!matches(info, operands, index, any_zero)) continue;
        encode_words(info, operands, statement, index);
        return;
      }
    }
    if (only == nullptr) return unknown(statement);
    // One bad value is a better message than "no form".
    const std::size_t before = problems_.size();
    for (const Operand& operand : statement.operands) {
      if (!operand.is_register) value_of(operand, index, true);
    }
    if (problems_.size() > before) return;
    fail(statement.where, "`" + statement.name + "` does not take these operands; it is " +
                              fmt::format("`{}`", fmt::join(forms, "` or `")));
  }

  void unknown(const Statement& statement) {
    std::vector<std::string> names = {"mov", "zero", "nop", "fnop", "ldconst", "swap16"};
    for (const InstructionInfo& info : isa::instruction_table()) names.emplace_back(info.mnemonic);
    const std::string near = nearest(statement.name, names);
    fail(statement.where, "`" + statement.name + "` is no instruction" +
                              (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }

  /// Whether the text may leave out the delta: `ld32 $m0, $m1, 0`.
  static bool has_delta(const InstructionInfo& info) {
    return info.operands.size() == 4 && info.operands[2].letter == 'o' &&
           info.operands[2].role == Role::kIn;
  }

  bool matches(const InstructionInfo& info, const std::vector<Operand>& operands, std::size_t index,
               bool any_zero) {
    if (operands.size() != info.operands.size()) return false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const OperandInfo& form = info.operands[i];
      const Operand& operand = operands[i];
      if (operand.is_register != form.is_register) return false;
      if (form.is_register) {
        const bool zero = any_zero && form.role == Role::kIn && operand.number == isa::kZero &&
                          operand.count == 1;
        if (operand.file != form.file && !zero) return false;
        if (operand.count != form.count || operand.suffix != form.suffix) return false;
        if (!form.fits(operand.number)) return false;
        continue;
      }
      const AssemblyValue value = value_of(operand, index, false);
      const bool relocated = value.labels == 1 && (form.is_address || info.mnemonic == "setzi");
      if ((value.labels != 0 && !relocated) || !form.fits(value.number)) return false;
    }
    return true;
  }

  void encode_words(const InstructionInfo& info, const std::vector<Operand>& operands,
                    const Statement& statement, std::size_t index) {
    std::uint32_t word = info.pattern.value;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].is_register) {
        word |= info.operands[i].encode(operands[i].number);
        continue;
      }
      const AssemblyValue value = value_of(operands[i], index, true);
      word |= info.operands[i].encode(value.number);
      if (value.labels == 1) {
        result_.relocations.push_back(static_cast<std::uint32_t>(result_.words.size()));
      }
    }
    if (statement.seat != Seat::kSolo) {
      check_seat(info, statement, word);
      word |= 0x80000000U;
    }
    if (info.spec.control == isa::Control::kRepeat) repeats_.push_back(index);
    result_.words.push_back(word);
  }

  void check_seat(const InstructionInfo& info, const Statement& statement, std::uint32_t word) {
    const bool main = statement.seat == Seat::kMain;
    if ((info.spec.pipe == isa::Pipe::kMain) != main) {
      fail(statement.where, fmt::format("`{}` runs in the {} pipe; a bundle is {{ main ; aux }}",
                                        info.mnemonic, main ? "auxiliary" : "main"));
    }
    if (main) {
      main_word_ = word;
      return;
    }
    const InstructionInfo* first = isa::find_instruction(main_word_);
    if (first == nullptr) return;
    for (const OperandInfo& a : first->operands) {
      for (const OperandInfo& b : info.operands) {
        if (!a.is_register || !b.is_register || a.role == Role::kIn || b.role == Role::kIn)
          continue;
        const std::int64_t x = a.decode(main_word_), y = b.decode(word);
        const bool zero = x + a.count == 16 || isa::is_fnop(word);
        if (a.file == b.file && !zero && x < y + b.count && y < x + a.count) {
          fail(statement.where, "both instructions of the bundle write the same register");
        }
      }
    }
  }

  /// The body of an `rpt` is n + 1 bundles from an 8-byte boundary, without control or system
  /// instructions.
  void check_repeats() {
    for (const std::size_t index : repeats_) {
      const Statement& repeat = statements_[index];
      const std::uint32_t word = result_.words[repeat.address / 4];
      const InstructionInfo* info = isa::find_instruction(word);
      const std::uint32_t begin = repeat.address / 4 + (repeat.seat == Seat::kSolo ? 1U : 2U);
      const auto bundles = static_cast<std::uint32_t>(info->operands[1].decode(word)) + 1;
      if (begin % 2 != 0) {
        fail(repeat.where,
             "the body of `rpt` does not begin at an 8-byte boundary; put `.align 8` "
             "or a `nop` so that it does");
      }
      for (std::uint32_t i = begin; i < begin + 2 * bundles; ++i) {
        if (i >= result_.words.size() || (result_.words[i] & 0x80000000U) == 0) {
          fail(repeat.where,
               fmt::format("the body of `rpt` is {} bundles, and not all that follows "
                           "it are",
                           bundles));
          break;
        }
        const InstructionInfo* inside = isa::find_instruction(result_.words[i]);
        if (inside != nullptr && inside->spec.control != isa::Control::kPlain) {
          fail(repeat.where, fmt::format("`{}` in the body of `rpt`", inside->mnemonic));
          break;
        }
      }
    }
  }

  std::string file_;
  std::vector<Problem> problems_;
  std::vector<Token> tokens_;
  std::vector<Statement> statements_;
  std::map<std::string, std::uint32_t> labels_;
  std::vector<LocalLabel> local_labels_;
  std::map<std::string, AssemblyValue> constants_;
  std::vector<std::unique_ptr<std::vector<Token>>> made_;
  std::vector<std::size_t> repeats_;
  std::uint32_t address_ = 0;
  bool in_bundle_ = false;
  int bundle_size_ = 0;
  Token bundle_;
  std::uint32_t main_word_ = 0;
  Assembly result_;
};

}  // namespace

Assembly assemble(std::string_view text, const std::string& file,
                  const MachineConfig& /*machine*/) {
  return Assembler(text, file).run();
}

}  // namespace superstep
