#include "compiler/import/free_values.h"

#include <set>
#include <string_view>
#include <utility>

namespace superstep::import {
namespace {

class FreeValues {
 public:
  void visit(const SyntaxBlock& block) {
    std::set<std::string_view> own;
    for (const SyntaxArgument& argument : block.arguments) own.insert(argument.name);
    defined_.push_back(std::move(own));
    for (const SyntaxOp& op : block.ops) {
      for (const ValueUse& use : op.operands) add(use);
      for (const SyntaxBlock& region : op.regions) visit(region);
      for (const ResultGroup& group : op.results) defined_.back().insert(group.name);
    }
    defined_.pop_back();
  }

  std::vector<ValueUse> take() { return std::move(found_); }

 private:
  void add(const ValueUse& use) {
    for (const auto& names : defined_) {
      if (names.contains(use.name)) return;
    }
    if (known_.emplace(use.name, use.number).second) found_.push_back(use);
  }

  std::vector<std::set<std::string_view>> defined_;  ///< by block, outermost first
  std::set<std::pair<std::string_view, std::uint32_t>> known_;
  std::vector<ValueUse> found_;
};

}  // namespace

std::vector<ValueUse> free_values(const std::vector<SyntaxBlock>& regions) {
  FreeValues values;
  for (const SyntaxBlock& region : regions) values.visit(region);
  return values.take();
}

}  // namespace superstep::import
