#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "toolchain/assembler/conditionals.h"
#include "toolchain/assembler/expression.h"
#include "toolchain/assembler/instruction_forms.h"
#include "toolchain/assembler/macros.h"
#include "toolchain/assembler/output.h"
#include "toolchain/assembler/sources.h"
#include "toolchain/assembler/symbols.h"

namespace superstep::assembler {

/// Reads one text from begin to end. What an expression needs and does not know yet is filled in at
/// the end: every statement knows its size where it stands, so that addresses are final at once.
class TextAssembler final : private ExpressionScope {
 public:
  /// A name that the text does not define is an error, or a symbol for the linker.
  explicit TextAssembler(bool undefined_is_error) : undefined_is_error_(undefined_is_error) {}

  /// Throws MalformedInput with every problem of the text.
  void run(std::string_view text, const std::string& file);

  [[nodiscard]] Output& output() { return output_; }
  [[nodiscard]] Symbols& symbols() { return symbols_; }
  [[nodiscard]] const Sources& sources() const { return sources_; }

  /// Adds a problem of a later step; `finish_problems` throws when there are any.
  void fail(Place place, const std::string& message);
  void finish_problems();

 private:
  struct Frame {
    Lexer lexer;
    std::size_t conditions = 0;  ///< open where it began
  };
  enum class Seat : std::uint8_t { kSolo, kMain, kAux };
  struct Slot {
    std::uint32_t section = 0;
    std::uint32_t offset = 0;
    Seat seat = Seat::kSolo;
    Place place;
    std::optional<Object::Mode> mode;  ///< of its code, when that is checked
  };
  struct KeptInstruction {
    Slot slot;
    std::string_view mnemonic;
    std::vector<Operand> operands;
  };
  struct KeptData {
    std::uint32_t section = 0;
    std::uint32_t offset = 0;
    unsigned bytes = 0;
    Object::RelocationKind kind = Object::RelocationKind::k32;
    KeptExpression value;
    Place place;
  };
  using Directive = void (TextAssembler::*)(const Token&);

  // Statements (text_assembler.cpp).
  Lexer& lexer() { return frames_.back().lexer; }
  void leave_frame();
  void read_statement();
  void skip_statement();
  void open_bundle(Place place);
  void close_bundle(Place place);
  void define_label(const Token& token);
  bool read_tokens();
  std::vector<KeptExpression> split_tokens(std::size_t first, bool may_be_empty = false);
  [[nodiscard]] std::optional<Value> value_of(const Token& token) override;
  [[nodiscard]] std::optional<Value> numeric_label(const Token& token);
  [[nodiscard]] std::optional<Value> value_of(NamedSymbol& symbol);
  Value evaluate_tokens(const std::vector<Token>& tokens, KeptExpression range);
  std::optional<std::int64_t> number_of(KeptExpression range, const Token& directive);
  KeptExpression keep(KeptExpression range);

  // Instructions (instructions.cpp).
  void read_instruction(const Token& mnemonic);
  Slot take_slot(Place place);
  void read_constant(const Token& mnemonic, std::vector<Operand>& operands);
  bool encode(const Slot& slot, std::string_view mnemonic, const std::vector<Operand>& operands,
              const std::vector<Token>& tokens);
  void put_word(const Slot& slot, const isa::InstructionInfo& info,
                const std::vector<BoundOperand>& operands);
  void check_mode(const Slot& slot, const isa::InstructionInfo& info);
  void check_control_register(const Slot& slot, const isa::InstructionInfo& info,
                              const std::vector<Operand>& operands,
                              const std::vector<Token>& tokens);

  // Macros, repetitions and conditions (blocks.cpp).
  void call_macro(const Token& name, const Macro& macro);
  void expand(Expansion expansion);
  std::string_view take_block(std::string_view begin, std::string_view end, Place place);
  void begin_macro(const Token& directive);
  void remove_macro(const Token& directive);
  void leave_macro(const Token& directive);
  void repeat(const Token& directive);
  void repeat_values(const Token& directive);
  void misplaced(const Token& directive);
  bool read_condition(const Token& directive);
  void compare_number(const Token& directive);
  void compare_text(const Token& directive);
  void compare_strings(const Token& directive);
  void test_blank(const Token& directive);
  void test_defined(const Token& directive);
  void else_if(const Token& directive);
  void otherwise(const Token& directive);
  void end_if(const Token& directive);

  // Other directives (directives.cpp, data_directives.cpp).
  static const std::unordered_map<std::string_view, Directive>& directives();
  void read_directive(const Token& directive);
  void ignore(const Token& directive);
  void report_error(const Token& directive);
  void begin_section(const Token& directive);
  void push_section(const Token& directive);
  void pop_section(const Token& directive);
  void previous_section(const Token& directive);
  void enter_section(std::string_view name, std::string_view flags);
  void align(const Token& directive);
  void set_mode(const Token& directive);
  void set_mode_check(const Token& directive);
  void export_names(const Token& directive);
  void declare_names(const Token& directive);
  void set_size(const Token& directive);
  void set_constant(const Token& directive);
  void define_constant(std::string_view name, Place place, KeptExpression value);
  void set_origin(const Token& directive);
  void move_to(KeptExpression target, std::optional<KeptExpression> filling,
               const Token& directive);
  void end_text(const Token& directive);
  void add_integers(const Token& directive);
  void add_integer(KeptExpression range, unsigned bytes);
  std::optional<Object::RelocationKind> take_modifier(KeptExpression& range, unsigned bytes);
  void put_integer(const KeptData& data, Value value);
  void add_reals(const Token& directive);
  void add_strings(const Token& directive);
  void add_space(const Token& directive);
  void fill(const Token& directive);
  void wait_for(const WaitingField& field);
  bool has_room(std::uint64_t bytes, Place place);
  [[nodiscard]] std::string text_of(Place place) const;

  // The end of the text (finish.cpp).
  void finish();
  void check_bundle(const BundleRecord& bundle);
  void check_repeat(const RepeatRecord& repeat);

  bool undefined_is_error_;
  bool is_finishing_ = false;
  int kept_depth_ = 0;  ///< of constants that are being evaluated
  Sources sources_;
  std::deque<Frame> frames_;
  Conditionals conditionals_;
  std::unordered_map<std::string_view, Macro> macros_;
  std::uint64_t calls_ = 0;
  std::size_t expanded_ = 0;  ///< characters
  Symbols symbols_;
  Output output_;
  struct PushedSection {
    std::uint32_t current = 0;
    std::uint32_t previous = 0;
  };
  std::vector<PushedSection> pushed_sections_;
  std::uint32_t previous_section_ = 0;
  Object::Mode mode_ = Object::Mode::kWorker;
  bool has_mode_ = false;  ///< a directive said it
  bool checks_mode_ = true;
  std::uint32_t dot_ = 0;  ///< what `.` is, in the current section

  std::vector<Token> tokens_;  ///< of the statement that is read
  std::vector<Token> kept_;    ///< of all expressions that wait for the end
  std::vector<KeptInstruction> kept_instructions_;
  std::vector<KeptData> kept_data_;
  std::vector<BoundOperand> bound_;  ///< of the instruction that is encoded; here to be reused

  bool in_bundle_ = false;
  unsigned bundle_size_ = 0;
  Place bundle_place_;
  BundleRecord bundle_;

  struct RankedProblem {
    std::uint32_t rank = 0;  ///< place in the file: of the call, for what a macro made
    Problem problem;
  };
  std::vector<RankedProblem> problems_;
  std::set<std::string> reported_;
  std::uint64_t failures_ = 0;  ///< with those that were already reported
};

}  // namespace superstep::assembler
