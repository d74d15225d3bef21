#include "sim/tile/look_ahead.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "isa/instructions.h"
#include "isa/registers.h"
#include "isa/table.h"

namespace superstep {

namespace {

/// `InstructionInfo::number` of these records.
template <class... Records>
constexpr std::array kNumbersOf = {isa::kNumberOf<Records>...};

/// When it is done, all workers have left, or it is a fault.
constexpr auto kWaits = kNumbersOf<isa::Sync, isa::Runall>;
/// Asks at most when workers leave. Where words are received beside workers it is a fault.
constexpr auto kAsksForTime =
    kNumbersOf<isa::Run, isa::Get, isa::Sans, isa::Delay, isa::Delaypic, isa::Delayxpic>;
constexpr auto kPut = kNumbersOf<isa::Put>;

bool is_one_of(const auto& numbers, const isa::InstructionInfo& info) {
  return std::ranges::find(numbers, info.number) != numbers.end();
}

/// What follows an instruction of the supervisor beside running workers.
struct Next {
  bool meets_workers = false;  ///< what they do, or changes it; or nobody knows
  std::vector<std::uint32_t> pcs = {};
};

Next next_of(std::uint32_t pc, std::uint32_t word) {
  const isa::InstructionInfo* info = isa::find_instruction(word);
  // A fault.
  if (info == nullptr || info->spec.where == isa::Where::kWorker) return {};
  if (is_one_of(kWaits, *info)) return {};
  const std::uint32_t behind = pc + 4 * info->spec.words;
  switch (info->spec.control) {
    case isa::Control::kPlain:
      if (info->memory != isa::Memory::kNone) return {.meets_workers = true};
      return {.pcs = {behind}};
    case isa::Control::kBranch: {
      const isa::OperandInfo* last = info->operands.empty() ? nullptr : &info->operands.back();
      if (last == nullptr || !last->is_address) return {.meets_workers = true};
      const auto target = static_cast<std::uint32_t>(last->decode(word));
      if (is_one_of(kNumbersOf<isa::Bri, isa::Call>, *info)) return {.pcs = {target}};
      return {.pcs = {behind, target}};
    }
    default:
      break;
  }
  const bool clears_weights =
      is_one_of(kPut, *info) && info->operands.front().decode(word) == isa::kCr;
  if (clears_weights || !(is_one_of(kPut, *info) || is_one_of(kAsksForTime, *info))) {
    return {.meets_workers = true};
  }
  return {.pcs = {behind}};
}

}  // namespace

SupervisorPath& LookAhead::from(std::uint32_t pc) {
  SupervisorPath& path = path_at(pc);
  if (path.words == 0 || path.code_version != memory_.code_version()) {
    if (path.words == 0 || has_other_words(path)) follow(path);
    path.code_version = memory_.code_version();
    path.launched = nullptr;
  }
  return path;
}

SupervisorPath& LookAhead::path_at(std::uint32_t pc) {
  // Mostly it is that of the last time, in a loop, or what followed then.
  if (last_ != nullptr && last_->pc == pc) return *last_;
  SupervisorPath* path = last_ == nullptr ? nullptr : last_->next;
  if (path == nullptr || path->pc != pc) {
    SupervisorPath*& known = by_pc_[pc];
    if (known == nullptr) known = &paths_.emplace_back(SupervisorPath{.pc = pc});
    path = known;
    if (last_ != nullptr) last_->next = path;
  }
  last_ = path;
  return *path;
}

bool LookAhead::has_other_words(const SupervisorPath& path) const {
  const std::span words(&words_[path.first_word], path.words);
  return std::ranges::any_of(
      words, [&](const Word& word) { return memory_.word(word.address) != word.value; });
}

void LookAhead::follow(SupervisorPath& path) {
  path.meets_workers = false;
  std::vector<Word> words;
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open = {path.pc};
  while (!open.empty() && !path.meets_workers) {
    const std::uint32_t at = open.back();
    open.pop_back();
    // Code that is not there is a fault.
    if (at % 4 != 0 || !memory_.contains(at, 4) || !seen.insert(at).second) continue;
    const std::uint32_t word = memory_.word(at);
    words.push_back({at, word});
    memory_.mark_decoded(at);
    const Next next = next_of(at, word);
    path.meets_workers = next.meets_workers;
    open.insert(open.end(), next.pcs.begin(), next.pcs.end());
  }
  path.words = static_cast<std::uint32_t>(words.size());
  if (path.words > path.room) {
    path.first_word = static_cast<std::uint32_t>(words_.size());
    path.room = path.words;
    words_.resize(words_.size() + words.size());
  }
  std::ranges::copy(words, words_.begin() + path.first_word);
}

}  // namespace superstep
