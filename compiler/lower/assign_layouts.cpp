#include "compiler/lower/assign_layouts.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/ops/op.h"
#include "compiler/ops/strided_box.h"

namespace superstep {
namespace {

/// Disjoint sets of values, by union and find.
class ValueSets {
 public:
  explicit ValueSets(std::size_t values) : sets_(values) {}
  void unite(ValueId a, ValueId b) { sets_.union_set(index(a), index(b)); }
  [[nodiscard]] std::size_t of(ValueId v) { return sets_.find_set(index(v)); }

 private:
  boost::disjoint_sets_with_storage<> sets_;
};

/// What the users of a group want of it. A reduction or a broadcast wants whole rows, of so many
/// elements; a product wants balance, as much as two of those do [measured on bow: 1024x1024 f32 in
/// whole rows take 4,500 cycles more in a product of three of them, up to 3,400 fewer in a
/// reduction and 1,500 fewer in a broadcast].
struct Ballot {
  std::map<std::int64_t, int> rows;
  int products = 0;
  int elementwise = 0;                   ///< ops that compute the group
  int indexed = 0;                       ///< uses as a table
  std::optional<TableUse> table = {};    ///< of the first who indexes it
  std::optional<TableUse> windows = {};  ///< of the first who takes or puts it
  bool is_read = false;                  ///< by ops of its block other than as a table
  bool is_read_in_loop = false;          ///< so, and indexed, in each trip of a loop

  /// Windows lie like their table where nobody else cares.
  void give(const TensorType& type, const Layouts& layouts, LayoutWish& wish) const {
    wish.row = row();
    wish.is_windows = !table && products == 0 && rows.empty();
    wish.table = wish.is_windows ? windows : table;
    wish.is_read_whole = is_read_in_loop;
    if (table && !is_worth_a_table(type, layouts, wish)) wish.table.reset();
  }

  /// Indexing outweighs the rest, as anything else moves the whole table, unless that takes less
  /// than to compute all of it on the few tiles that a table of many positions lies on: a word a
  /// cycle each time, against an element a cycle for each op.
  [[nodiscard]] bool is_worth_a_table(const TensorType& type, const Layouts& layouts,
                                      const LayoutWish& wish) const {
    const std::int64_t in_table = layouts.most_on_a_tile(type, wish);
    const std::int64_t spread =
        layouts.most_on_a_tile(type, {.row = wish.row, .least = wish.least});
    return elementwise * (in_table - spread) <= indexed * (layouts.costs().phase() + in_table);
  }

  /// The row length with most votes, if they outweigh the products; else 0.
  [[nodiscard]] std::int64_t row() const {
    // [chosen on 15 generated layers and networks on small64: device cycles above the least are
    // 1.20 % on average with 0, 1.03 % with 1, 2 and 4.]
    constexpr int kVotesOfProduct = 2;
    std::int64_t best = 0;
    int votes = kVotesOfProduct * products;
    for (const auto& [row, its] : rows) {
      if (row <= 1 || its <= votes) continue;
      best = row;
      votes = its;
    }
    return best;
  }
};

class Assignment {
 public:
  /// By argument the result that takes its storage.
  using Aliases = std::vector<std::optional<std::uint32_t>>;

  Assignment(const Graph& graph, Aliases aliases)
      : graph_(graph),
        aliases_(std::move(aliases)),
        alike_(graph_.values().size()),
        connected_(graph_.values().size()) {
    find_known();
    for (const Op& op : graph_.ops()) join(op);
    for_each_donation([&](ValueId argument, ValueId result) { unite(argument, result); });
  }

  AssignedLayouts run(Layouts& layouts, const std::map<ValueId, LayoutPtr>* placed) {
    number_companies();
    number_groups();
    if (placed == nullptr) {
      for_each_of_host([&](ValueId v) { group(v).wish.least = Costs::kLeastPerTile; });
    } else {
      place(layouts, *placed);
    }
    for_each_donation([&](ValueId argument, ValueId) { group(argument).is_fixed = true; });
    hold_votes();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      ballots_[g].give(groups_[g].type, layouts, groups_[g].wish);
    }
    return {layouts, std::move(groups_), std::move(group_of_)};
  }

 private:
  void place(Layouts& layouts, const std::map<ValueId, LayoutPtr>& placed) {
    // What a loop carries, which comes first, counts more than what it only uses.
    for (auto at = placed.rbegin(); at != placed.rend(); ++at) {
      const auto& [argument, layout] = *at;
      // What is computed of it needs no more than one copy.
      if (layout == layouts.everywhere()) continue;
      group(argument).layout = layout;
      group(argument).is_fixed = true;
    }
  }

  /// Arguments and results that the host moves at each call: not those that share storage, which
  /// stay from call to call.
  void for_each_of_host(const auto& visit) {
    const auto is_donated = [&](std::size_t a) { return a < aliases_.size() && aliases_[a]; };
    std::set<std::uint32_t> kept;
    for (std::size_t a = 0; a < graph_.arguments().size(); ++a) {
      if (is_donated(a)) {
        kept.insert(*aliases_[a]);
      } else {
        visit(graph_.arguments()[a]);
      }
    }
    for (std::uint32_t r = 0; r < graph_.results().size(); ++r) {
      if (!kept.contains(r)) visit(graph_.results()[r]);
    }
  }

  void for_each_donation(const auto& visit) const {
    for (std::size_t a = 0; a < aliases_.size(); ++a) {
      const std::optional<std::uint32_t> result = aliases_[a];
      if (result) visit(graph_.arguments()[a], graph_.results()[*result]);
    }
  }

  [[nodiscard]] std::int64_t elements(ValueId v) const { return graph_.type(v).elements(); }

  /// Values that no argument has a part in connect nothing.
  void find_known() {
    is_known_.resize(graph_.values().size(), false);
    for (const Op& op : graph_.ops()) {
      const bool is_known =
          !op.attributes.contains("hides") &&
          std::ranges::all_of(op.operands, [&](ValueId v) { return is_known_[index(v)]; });
      for (const ValueId result : op.results) is_known_[index(result)] = is_known;
    }
  }

  [[nodiscard]] bool is_elementwise(const Op& op) const {
    return lowering_as<ElementwiseLowering>(op, graph_) != nullptr;
  }

  /// What the regions of an op connect lies alike around it. What a loop carries is one value.
  void join_regions(const Op& op) {
    const bool is_loop = op.definition->traits.control == Control::kLoop;
    std::vector<Assignment>& regions = regions_[&op];
    for (const Graph& region : op.regions) {
      Aliases carried;
      for (std::uint32_t i = 0; is_loop && i < region.results().size(); ++i) {
        if (&region == &op.regions[1]) carried.emplace_back(i);
      }
      regions.emplace_back(region, std::move(carried));
    }
    for (std::size_t i = 0; is_loop && i < op.results.size(); ++i) {
      if (!is_known_[index(op.operands[i])]) unite(op.operands[i], op.results[i]);
    }
    for (Assignment& region : regions) {
      std::vector<std::pair<ValueId, ValueId>> ends;  // inside, outside
      const std::vector<ValueId>& arguments = region.graph_.arguments();
      const std::size_t first = op.operands.size() - arguments.size();
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool is_carried = is_loop && i < op.results.size();
        ends.emplace_back(arguments[i], is_carried ? op.results[i] : op.operands[first + i]);
      }
      for (std::size_t i = 0; !is_loop && i < op.results.size(); ++i) {
        ends.emplace_back(region.graph_.results()[i], op.results[i]);
      }
      std::map<std::size_t, ValueId> alike, connected;  // outside, by sets of the region
      for (const auto& [inside, outside] : ends) {
        if (region.is_known_[index(inside)] || is_known_[index(outside)]) continue;
        const ValueId like = alike.try_emplace(region.alike_.of(inside), outside).first->second;
        if (elements(like) == elements(outside)) unite(like, outside);
        if (elements(outside) <= 1) continue;
        connected_.unite(connected.try_emplace(region.connected_.of(inside), outside).first->second,
                         outside);
      }
    }
  }

  void join(const Op& op) {
    // What a barrier passes on, and tables that are updated.
    const bool is_opaque = op.definition->traits.is_opaque;
    if (is_opaque || op.definition->traits.updates_operands) {
      for (std::size_t i = 0; i < op.results.size(); ++i) {
        if (!is_known_[index(op.operands[i])]) unite(op.operands[i], op.results[i]);
      }
    }
    if (is_opaque) return;
    if (op.definition->traits.control != Control::kNone) return join_regions(op);
    const bool lies_alike = is_elementwise(op) || keeps_order(op);
    for (const ValueId result : op.results) {
      if (elements(result) == elements(op.results[0])) unite(op.results[0], result);
      for (const ValueId operand : op.operands) {
        if (is_known_[index(operand)]) continue;
        if (lies_alike && elements(operand) == elements(result)) {
          unite(operand, result);
        } else if (elements(operand) > 1 && elements(result) > 1) {
          connected_.unite(operand, result);
        }
      }
    }
  }

  void unite(ValueId a, ValueId b) {
    alike_.unite(a, b);
    connected_.unite(a, b);
  }

  /// Connected values are one company. Companies of which one ends before the other begins, in ops
  /// from the arguments, are one as well: they are not in each other's way, and the steps of a
  /// program that repeats itself lie alike.
  void number_companies() {
    struct Span {
      std::size_t first = std::numeric_limits<std::size_t>::max(), last = 0;
    };
    std::vector<std::size_t> level(graph_.values().size());
    for (const Op& op : graph_.ops()) {
      std::size_t last = 0;
      for (const ValueId v : op.operands) last = std::max(last, level[index(v)]);
      for (const ValueId v : op.results) level[index(v)] = last + 1;
    }
    std::map<std::size_t, Span> spans;  // by set
    for (std::uint32_t i = 0; i < level.size(); ++i) {
      Span& span = spans[connected_.of(ValueId{i})];
      span.first = std::min(span.first, level[i]);
      span.last = std::max(span.last, level[i]);
    }
    std::vector<std::pair<std::size_t, std::size_t>> by_first;
    for (const auto& [set, span] : spans) by_first.emplace_back(span.first, set);
    std::ranges::sort(by_first);
    // Partitions the spans as intervals of a line are: the first company that is free is next, so
    // that what repeats meets the same ones.
    std::set<std::pair<std::size_t, std::uint32_t>> ends;
    std::set<std::uint32_t> free;
    for (const auto& [first, set] : by_first) {
      for (; !ends.empty() && ends.begin()->first < first; ends.erase(ends.begin())) {
        free.insert(ends.begin()->second);
      }
      auto company = static_cast<std::uint32_t>(ends.size());
      if (!free.empty()) company = free.extract(free.begin()).value();
      ends.emplace(spans[set].last, company);
      company_[set] = company;
    }
  }

  void number_groups() {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> number(graph_.values().size(), kNone);
    for (std::uint32_t i = 0; i < graph_.values().size(); ++i) {
      const ValueId v{i};
      std::size_t& group = number[alike_.of(v)];
      if (group == kNone) {
        group = groups_.size();
        const LayoutWish wish{.least = Costs::kLeastOnDevice,
                              .company = company_.at(connected_.of(v))};
        groups_.push_back({graph_.type(v), wish});
      }
      group_of_.push_back(group);
    }
    ballots_.resize(groups_.size());
  }

  AssignedLayouts::Group& group(ValueId v) { return groups_[group_of_[index(v)]]; }
  Ballot& ballot(ValueId v) { return ballots_[group_of_[index(v)]]; }

  void vote(ValueId value, const TableUse& use, bool is_windows) {
    Ballot& its = ballot(value);
    if (!is_windows) ++its.indexed;
    std::optional<TableUse>& first = is_windows ? its.windows : its.table;
    if (!first) first = use;
  }

  void hold_votes() {
    for (const Op& op : graph_.ops()) vote(op);
  }

  /// As its regions vote.
  void vote_for_regions(const Op& op) {
    for (Assignment& region : regions_.at(&op)) {
      region.number_companies();
      region.number_groups();
      region.hold_votes();
      const std::vector<ValueId>& arguments = region.graph_.arguments();
      const std::size_t first = op.operands.size() - arguments.size();
      const bool is_loop = op.definition->traits.control == Control::kLoop;
      std::set<std::size_t> counted;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!counted.insert(region.group_of_[index(arguments[i])]).second) continue;
        const Ballot& its = region.ballot(arguments[i]);
        // What a loop carries may begin with a constant, which lies nowhere.
        const bool is_carried = is_loop && i < op.results.size();
        const ValueId outside = is_carried ? op.results[i] : op.operands[first + i];
        Ballot& all = ballot(outside);
        all.products += its.products;
        for (const auto& [row, votes] : its.rows) all.rows[row] += votes;
        all.elementwise += its.elementwise;
        all.indexed += its.indexed;
        if (!all.table) all.table = its.table;
        all.is_read_in_loop |= its.is_read_in_loop || (is_loop && its.is_read && its.table);
      }
    }
  }

  void vote(const Op& op) {
    if (op.definition->traits.control != Control::kNone) return vote_for_regions(op);
    const Lowering& lowering = lowering_of(op, graph_);
    if (!op.definition->traits.is_opaque) vote_as_reader(op, lowering);
    if (const auto* step = std::get_if<StepLowering>(&lowering)) {
      for (const Vote& its : step->votes(op, graph_)) {
        if (its.table) {
          vote(its.value, *its.table, its.is_windows);
          continue;
        }
        if (its.row == 0) ++ballot(its.value).products;
        if (its.row > 1) ++ballot(its.value).rows[its.row];
      }
    } else if (std::holds_alternative<ElementwiseLowering>(lowering)) {
      ++ballot(op.results[0]).elementwise;
      for (const ValueId operand : op.operands) {
        const std::int64_t row = repeated_row(operand);
        if (row > 1) ++ballot(operand).rows[row];
      }
    }
  }

  /// What an op reads besides tables and their windows, and does not leave as it lies.
  void vote_as_reader(const Op& op, const Lowering& lowering) {
    const auto* step = std::get_if<StepLowering>(&lowering);
    const std::vector<Vote> votes = step == nullptr ? std::vector<Vote>{} : step->votes(op, graph_);
    if (std::ranges::any_of(votes, [](const Vote& its) { return its.table.has_value(); })) return;
    for (const ValueId operand : op.operands) {
      const auto is_alike = [&](ValueId r) {
        return group_of_[index(r)] == group_of_[index(operand)];
      };
      if (std::ranges::none_of(op.results, is_alike)) ballot(operand).is_read = true;
    }
  }

  /// Neighbours in a value that are one element of what it repeats, or as many different ones; 1
  /// for a value that repeats nothing.
  [[nodiscard]] std::int64_t repeated_row(ValueId v) const {
    const Op* producer = graph_.producer_of(v);
    if (producer == nullptr || is_known_[index(v)]) return 1;
    const std::optional<StridedBox> box = only_box(*producer);
    if (!box || std::ranges::find(box->from_strides, 0) == box->from_strides.end()) return 1;
    const bool repeats = box->from_strides.back() == 0;
    std::int64_t row = 1;
    for (std::size_t d = box->sizes.size(); d-- > 0;) {
      if ((box->from_strides[d] == 0) != repeats) break;
      row *= box->sizes[d];
    }
    return row;
  }

  /// The copy that an op is, if it is one.
  [[nodiscard]] std::optional<StridedBox> only_box(const Op& op) const {
    const auto* rearrange = lowering_as<RearrangeLowering>(op, graph_);
    if (rearrange == nullptr) return std::nullopt;
    std::vector<StridedBox> boxes = rearrange->boxes(op, graph_);
    return boxes.size() == 1 ? std::optional(std::move(boxes[0])) : std::nullopt;
  }

  /// Whether an op copies all elements of its operand in their order.
  [[nodiscard]] bool keeps_order(const Op& op) const {
    const std::optional<StridedBox> box = only_box(op);
    return box && elements(op.operands[0]) == elements(op.results[0]) &&
           merged(*box) == merged({0, {elements(op.results[0])}, {1}, {1}});
  }

  const Graph& graph_;
  Aliases aliases_;
  std::map<const Op*, std::vector<Assignment>> regions_;  ///< of ops that have control
  ValueSets alike_, connected_;
  std::vector<bool> is_known_;                    ///< by value
  std::map<std::size_t, std::uint32_t> company_;  ///< by connected set
  std::vector<AssignedLayouts::Group> groups_;
  std::vector<std::size_t> group_of_;
  std::vector<Ballot> ballots_;  ///< by group
};

}  // namespace

AssignedLayouts assign_layouts(const Module& module, Layouts& layouts,
                               const std::map<ValueId, LayoutPtr>* placed) {
  return Assignment(module.main, module.argument_alias).run(layouts, placed);
}

}  // namespace superstep
