#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "base/divide.h"
#include "compiler/lower/products/product_split.h"
#include "compiler/vertex/amp_product.h"
#include "compiler/vertex/amp_transpose.h"
#include "compiler/vertex/half_transpose.h"

namespace superstep {
namespace {

using vertex::AmpProduct;

class AmpLowering {
 public:
  AmpLowering(ProgramBuilder& builder, Values& values, const Product& product)
      : builder_(builder),
        values_(values),
        product_(product),
        origin_(product.origin),
        kernel_{.operands = product.input, .rows_inside = product.plan.rows_inside},
        bytes_(static_cast<std::int64_t>(size_of(product.input))) {}

  Multiplied run() {
    products_ = add_products(values_, product_, DType::kF32);
    builder_.mutable_buffer(products_).region = Buffer::Region::kInterleaved;
    rows_.all = product_.left_blocks();
    weights_.all = product_.right_blocks();
    weights_.is_weights = true;
    add_storage(rows_);
    add_storage(weights_);
    Time time;
    for (step_ = 0; step_ < product_.steps(); ++step_) time = run_step(time);
    return {products_,
            time,
            rows_.buffer,
            {products_, rows_.buffer, rows_.landing, weights_.buffer, weights_.landing}};
  }

 private:
  /// An operand where it is multiplied. All steps use the same storage, and so the same vertex
  /// states.
  struct Operand {
    bool is_weights = false;
    std::vector<OperandBlock> all, of_step;
    BufferId buffer{};
    BufferId landing{};  ///< where it arrives
  };

  [[nodiscard]] const ProductSide& side(const Operand& operand) const {
    return operand.is_weights ? product_.right : product_.left;
  }
  /// Whether an operand is stored in the order in which it is multiplied.
  [[nodiscard]] bool is_stored(bool weights) const {
    const ProductSide& side = weights ? product_.right : product_.left;
    return side.blocks || side.is_there;
  }
  /// Whether an operand is multiplied where it is stored: each block of it is one tile's, or a
  /// constant.
  [[nodiscard]] bool is_in_place(const Operand& operand) const {
    return side(operand).is_there ||
           (side(operand).blocks && product_.sharers(!operand.is_weights) == 1);
  }
  /// Whether an operand need not be brought: a product before this one has, or it is stored there.
  [[nodiscard]] bool is_there(const Operand& operand) const {
    return is_in_place(operand) || (!operand.is_weights && product_.rows_there);
  }

  void add_storage(Operand& operand) {
    if (side(operand).is_there) return add_constant(operand);
    if (is_there(operand)) {
      operand.buffer = is_in_place(operand) ? *side(operand).blocks : product_.rows_there->buffer;
      return;
    }
    std::vector<OperandBlock> first = of_step(operand.all);
    const LayoutPtr layout =
        place_blocks(first, [&](const OperandBlock& block) { return layout_of(operand, block); });
    for (std::size_t i = 0; i < first.size(); ++i) operand.all[i].begin = first[i].begin;
    operand.buffer =
        add(layout, operand.is_weights ? ".weights" : ".rows",
            operand.is_weights ? Buffer::Region::kInterleaved : Buffer::Region::kFirst);
    operand.landing = operand.buffer;
    const bool arranges = this->arranges(operand);
    if (!transposes(operand) && !arranges) return;
    operand.landing = add(
        layout, operand.is_weights ? ".columns" : ".inputs",
        product_.input == DType::kF16 || arranges ? Buffer::Region::kAny : Buffer::Region::kFirst);
  }

  /// An operand that boot writes, step after step.
  void add_constant(Operand& operand) {
    const std::int64_t area = area_of_step(operand.is_weights), steps = product_.steps();
    std::vector<Interval> intervals;
    for (const OperandBlock& block : operand.all) {
      intervals.push_back({block.number * steps * area, steps * area, block.tiles});
    }
    operand.buffer =
        add(std::make_shared<const Layout>(std::move(intervals)),
            operand.is_weights ? ".weights" : ".rows",
            operand.is_weights ? Buffer::Region::kInterleaved : Buffer::Region::kFirst);
    std::vector<std::byte> contents(operand.all.size() *
                                    static_cast<std::size_t>(steps * area * bytes_));
    for (step_ = 0; step_ < steps; ++step_) {
      std::vector<OperandBlock> blocks = of_step(operand.all);
      for (OperandBlock& block : blocks) block.begin = (block.number * steps + step_) * area;
      const Reading reading =
          gather(values_, side(operand), blocks, [&](const OperandBlock& block) {
            return operand.is_weights ? weights_layout(block) : rows_layout(block);
          });
      for (const Piece& piece : reading.pieces) {
        const std::vector<std::byte>& from = builder_.buffer(piece.source).contents;
        const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(i * bytes_); };
        for_each_index(piece.box.axes, piece.box.from, piece.box.to,
                       [&](std::int64_t i, std::int64_t to) {
                         std::memcpy(contents.data() + at(to), from.data() + at(i), at(1));
                       });
      }
    }
    step_ = 0;
    Buffer& constant = builder_.mutable_buffer(operand.buffer);
    constant.kind = Buffer::Kind::kConstant;
    constant.contents = std::move(contents);
  }

  /// The operands of a step are gathered when the one before is done.
  Time run_step(Time before) {
    std::array<Reading, 2> readings;
    Time ready = before;
    for (Operand* operand : {&rows_, &weights_}) {
      if (is_there(*operand)) continue;
      operand->of_step = of_step(operand->all);
      Reading& reading = readings[operand->is_weights ? 1 : 0];
      if (side(*operand).blocks) {
        reading.pieces = blocks_of_step(*operand);
      } else {
        reading = gather(values_, side(*operand), operand->of_step,
                         [&](const OperandBlock& block) { return layout_of(*operand, block); });
        add_zeros(*operand, reading.pieces);
      }
      ready = std::max(ready, reading.ready);
    }
    Time time = product_.rows_there ? std::max(before, product_.rows_there->time) : before;
    for (const Operand* operand : {&rows_, &weights_}) {
      if (is_there(*operand)) continue;
      time = std::max(time, bring(*operand, readings[operand->is_weights ? 1 : 0].pieces, ready));
    }
    multiply(time);
    return time;
  }

  /// Elements of a block of an operand that is stored in blocks, and of a step of it.
  [[nodiscard]] std::int64_t area_of_step(bool weights) const {
    const ProductPlan& plan = product_.plan;
    return plan.batches * (weights ? plan.columns : plan.rows) * plan.step_depth;
  }
  /// What a step takes of an operand that is stored in blocks, as it lies there.
  [[nodiscard]] std::vector<Piece> blocks_of_step(const Operand& operand) const {
    const bool weights = operand.is_weights;
    const std::int64_t area = area_of_step(weights), steps = product_.steps();
    std::vector<Piece> pieces;
    for (const OperandBlock& block : operand.of_step) {
      const Axis all{block.batch.size() * area_of(block, weights), 1, 1};
      pieces.push_back(
          {*side(operand).blocks, {(block.number * steps + step_) * area, block.begin, {all}}});
    }
    return pieces;
  }
  /// Where a step begins, in bytes, of an operand that is multiplied where it is stored.
  [[nodiscard]] std::int64_t first_of_step(const Operand& operand) const {
    return is_in_place(operand) ? step_ * area_of_step(operand.is_weights) * bytes_ : 0;
  }

  /// What this step takes of some blocks; short blocks may be done already.
  template <typename Block>
  [[nodiscard]] std::vector<Block> of_step(std::vector<Block> blocks) const {
    const std::int64_t depth = product_.plan.step_depth;
    for (Block& block : blocks) {
      block.depth.first += step_ * depth;
      block.depth.last = std::min(block.depth.last, block.depth.first + depth);
    }
    std::erase_if(blocks, [](const Block& block) { return block.depth.size() <= 0; });
    return blocks;
  }

  [[nodiscard]] bool transposes(const Operand& operand) const {
    if (is_stored(operand.is_weights)) return false;
    return operand.is_weights ? product_.plan.transposes : product_.plan.transposes_rows;
  }

  [[nodiscard]] bool arranges(const Operand& operand) const {
    return operand.is_weights && product_.plan.arranges && !is_stored(true);
  }

  [[nodiscard]] BlockLayout layout_of(const Operand& operand, const OperandBlock& block) const {
    if (side(operand).blocks) {
      return {block.batch.size() * area_of(block, operand.is_weights), {}};
    }
    if (!operand.is_weights) return rows_layout(block);
    const ProductPlan& plan = product_.plan;
    return plan.transposes || plan.arranges ? columns_layout(block) : weights_layout(block);
  }

  /// Fills the storage of an operand. What lies the other way lands as it is, in long runs, and is
  /// transposed where it is multiplied.
  Time bring(const Operand& operand, const std::vector<Piece>& pieces, Time ready) {
    const Time time = move(builder_, operand.landing, pieces, ready, origin_);
    if (arranges(operand)) return arrange(operand, time);
    if (!transposes(operand)) return time;
    const bool is_half = product_.input == DType::kF16;
    ComputeSet set{.name = origin_.name + ".transpose",
                   .operation = origin_.operation,
                   .source = origin_.source,
                   .codelet = is_half
                                  ? builder_.add_codelet("half transpose", vertex::HalfTranspose{})
                                  : builder_.add_codelet("amp transpose", vertex::AmpTranspose{}),
                   .launches = {},
                   .reads = {operand.landing},
                   .writes = {operand.buffer}};
    for (const OperandBlock& block : operand.of_step) {
      for (std::int64_t i = 0; i < block.batch.size(); ++i) {
        const auto [at, is_new] = transpositions_.try_emplace(
            {operand.is_weights, padded_free(block, operand.is_weights), block.depth.size(), i},
            VertexState());
        if (is_new) {
          const std::int64_t begin = i * area_of(block, operand.is_weights) * bytes_;
          at->second = is_half ? half_transposition(block, operand, begin)
                               : transposition(block, operand, begin);
        }
        const auto words = static_cast<std::uint32_t>(
            at->second.size() / static_cast<std::size_t>(builder_.machine().tile.workers));
        for (const TileId tile : block.tiles) {
          set.launches.push_back({.tile = tile, .state = at->second, .worker_words = words});
        }
      }
    }
    builder_.add_compute(time, std::move(set));
    return time.next_round();
  }

  /// Cuts columns of all inputs into blocks of inputs.
  Time arrange(const Operand& weights, Time landed) {
    const std::int64_t inputs = kernel_.depth();
    std::vector<Piece> pieces;
    for (const OperandBlock& block : weights.of_step) {
      const std::int64_t n = padded_free(block, true), depth = padded_depth(block.depth);
      pieces.push_back({weights.landing, simplified({block.begin,
                                                     block.begin,
                                                     {{block.batch.size(), n * depth, n * depth},
                                                      {depth / inputs, inputs, n * inputs},
                                                      {n, depth, inputs},
                                                      {inputs, 1, 1}}})});
    }
    return move(builder_, weights.buffer, pieces, landed, origin_);
  }

  BufferId add(LayoutPtr layout, const char* name, Buffer::Region region) {
    const BufferId id = values_.add_temporary(product_.input, std::move(layout),
                                              origin_.name + name, origin_.source);
    builder_.mutable_buffer(id).region = region;
    return id;
  }

  [[nodiscard]] std::int64_t padded_depth(const IndexRange& depth) const {
    return round_up(depth.size(), kernel_.depth());
  }
  [[nodiscard]] std::int64_t padded_rows(const IndexRange& rows) const {
    return product_.padded_rows(rows);
  }
  [[nodiscard]] std::int64_t groups(const IndexRange& columns) const {
    return divide_up(product_.pads_columns ? product_.plan.columns : columns.size(),
                     kernel_.channels());
  }
  /// Rows or columns of a block, padded.
  [[nodiscard]] std::int64_t padded_free(const OperandBlock& block, bool weights) const {
    return weights ? groups(block.free) * kernel_.channels() : padded_rows(block.free);
  }
  /// Inputs of a step of a block, and those that an operand has room for.
  [[nodiscard]] std::int64_t room(const IndexRange& depth, bool weights) const {
    return is_stored(weights) ? product_.plan.step_depth : padded_depth(depth);
  }
  [[nodiscard]] std::int64_t area_of(const OperandBlock& block, bool weights) const {
    return padded_free(block, weights) * room(block.depth, weights);
  }
  [[nodiscard]] std::int64_t pitch(const IndexRange& rows, const IndexRange& depth) const {
    return (kernel_.rows_inside ? padded_rows(rows) : room(depth, false)) * bytes_;
  }

  [[nodiscard]] BlockLayout rows_layout(const OperandBlock& block) const {
    const std::int64_t area = area_of(block, false);
    const bool inside = kernel_.rows_inside || transposes(rows_);
    return {block.batch.size() * area,
            {{{{product_.left.batch, block.batch, area},
               {product_.left.free, block.free, inside ? 1 : room(block.depth, false)},
               {product_.left.depth, block.depth, inside ? padded_rows(block.free) : 1}},
              0}}};
  }

  /// [input][column], to be transposed, or [column][input].
  [[nodiscard]] BlockLayout columns_layout(const OperandBlock& block) const {
    const std::int64_t area = area_of(block, true);
    const bool inside = product_.plan.arranges;
    return {block.batch.size() * area,
            {{{{product_.right.batch, block.batch, area},
               {product_.right.free, block.free, inside ? padded_depth(block.depth) : 1},
               {product_.right.depth, block.depth, inside ? 1 : padded_free(block, true)}},
              0}}};
  }

  /// [inputs of a block][column][input in the block].
  [[nodiscard]] BlockLayout weights_layout(const OperandBlock& block) const {
    const std::int64_t area = area_of(block, true), inputs = kernel_.depth();
    BlockLayout layout{block.batch.size() * area, {}};
    for (std::int64_t k = 0; k < block.depth.size(); k += inputs) {
      const IndexRange depth{block.depth.first + k,
                             std::min(block.depth.first + k + inputs, block.depth.last)};
      layout.ranges.push_back({{{product_.right.batch, block.batch, area},
                                {product_.right.free, block.free, inputs},
                                {product_.right.depth, depth, 1}},
                               k * groups(block.free) * kernel_.channels()});
    }
    return layout;
  }

  /// Zeros for the inputs that the last block has beyond the depth. The f32 codelet takes those of
  /// rows as 0, and so nothing may make a NaN of that; f16 needs both.
  void add_zeros(const Operand& operand, std::vector<Piece>& pieces) {
    const bool weights = operand.is_weights;
    const std::int64_t inputs = kernel_.depth(), live = product_.sizes.depth % inputs;
    if (live == 0 || (!weights && product_.input == DType::kF32)) return;
    Interval everywhere{0, inputs, {}};
    std::vector<Box> boxes;
    for (const OperandBlock& block : operand.of_step) {
      if (block.depth.last != product_.sizes.depth) continue;
      everywhere.tiles.insert(everywhere.tiles.end(), block.tiles.begin(), block.tiles.end());
      const std::int64_t n = padded_free(block, weights), last = padded_depth(block.depth) - inputs;
      Box box{0, block.begin, {{block.batch.size(), 0, area_of(block, weights)}}};
      if (transposes(operand)) {
        everywhere.count = std::max(everywhere.count, n);
        box.to += (last + live) * n;
        box.axes.push_back({inputs - live, 0, n});
        box.axes.push_back({n, 1, 1});
      } else {
        const bool in_blocks = weights && !product_.plan.arranges;
        box.to += in_blocks ? last * n + live : last + live;
        box.axes.push_back({n, 0, in_blocks ? inputs : padded_depth(block.depth)});
        box.axes.push_back({inputs - live, 1, 1});
      }
      boxes.push_back(simplified(std::move(box)));
    }
    if (boxes.empty()) return;
    std::ranges::sort(everywhere.tiles);
    const auto bytes = static_cast<std::size_t>(everywhere.count * bytes_);
    const BufferId zeros =
        add(std::make_shared<const Layout>(std::vector<Interval>{std::move(everywhere)}), ".zeros",
            Buffer::Region::kAny);
    Buffer& constant = builder_.mutable_buffer(zeros);
    constant.kind = Buffer::Kind::kConstant;
    constant.contents.resize(bytes);
    for (Box& box : boxes) pieces.push_back({zeros, std::move(box)});
  }

  [[nodiscard]] VertexState transposition(const OperandBlock& block, const Operand& operand,
                                          std::int64_t begin) const {
    const std::int64_t n = groups(block.free), pitch = n * kernel_.channels() * bytes_;
    const vertex::AmpTranspose::State state{.pitch = pitch,
                                            .depth = padded_depth(block.depth),
                                            .groups = n,
                                            .from = StateWord::address(operand.landing, begin),
                                            .to = StateWord::address(operand.buffer, begin)};
    return state.words(builder_.machine().tile.workers);
  }

  [[nodiscard]] VertexState half_transposition(const OperandBlock& block, const Operand& operand,
                                               std::int64_t begin) const {
    const bool weights = operand.is_weights;
    const std::int64_t n = padded_free(block, weights), depth = padded_depth(block.depth);
    // Rows are one block of all inputs.
    const std::int64_t inputs = weights ? kernel_.depth() : depth;
    const vertex::HalfTransposition shape{.inputs = depth,
                                          .columns = n,
                                          .pitch = n * bytes_,
                                          .column_pitch = inputs * bytes_,
                                          .block_inputs = inputs,
                                          .block_bytes = n * inputs * bytes_};
    const vertex::HalfTranspose::State state{.of = shape,
                                             .from = StateWord::address(operand.landing, begin),
                                             .to = StateWord::address(operand.buffer, begin)};
    return state.words(builder_.machine().tile.workers);
  }

  [[nodiscard]] std::uint32_t codelet(std::int64_t rows, bool accumulates, bool is_last) {
    AmpProduct kernel = kernel_;
    kernel.few_rows = vertex::amp_has_few_rows(kernel, rows, builder_.machine().tile.workers);
    kernel.accumulates = accumulates;
    const std::int64_t live = product_.sizes.depth % kernel.depth();
    if (is_last && live != 0 && product_.input == DType::kF32) {
      kernel.unused_inputs = static_cast<std::uint32_t>(kernel.depth() - live);
    }
    const std::string key =
        "amp " + std::string(name_of(kernel.operands)) +
        (kernel.rows_inside ? " rows inside" : "") + (kernel.few_rows ? " few rows" : "") +
        (accumulates ? " accumulates" : "") + ' ' + std::to_string(kernel.unused_inputs);
    return builder_.add_codelet(key, kernel);
  }

  /// Blocks of equal kind are launched together.
  [[nodiscard]] std::vector<Launch::Stage> stages(const ProductBlock& block) {
    const auto columns = static_cast<std::uint32_t>(groups(block.columns));
    const std::int64_t depths = padded_depth(block.depth) / kernel_.depth();
    const bool is_last = block.depth.last == product_.sizes.depth;
    std::vector<Launch::Stage> stages;
    for (std::int64_t k = 0; k < depths; ++k) {
      const std::uint32_t code =
          codelet(padded_rows(block.rows), step_ > 0 || k > 0, is_last && k + 1 == depths);
      if (!stages.empty() && stages.back().codelet == code) {
        stages.back().blocks += columns;
      } else {
        stages.push_back({code, columns});
      }
    }
    return stages;
  }

  void multiply(Time time) {
    ComputeSet set{.name = origin_.name,
                   .operation = origin_.operation,
                   .source = origin_.source,
                   .codelet = 0,
                   .launches = {},
                   .reads = {rows_.buffer, weights_.buffer},
                   .writes = {products_}};
    if (step_ > 0) set.reads.push_back(products_);
    for (const ProductBlock& block : of_step(product_.blocks())) {
      const std::vector<Launch::Stage> of_block = stages(block);
      set.codelet = of_block[0].codelet;
      for (std::int64_t i = 0; i < block.batch.size(); ++i) {
        const auto [state, is_new] =
            launches_.try_emplace({padded_rows(block.rows), groups(block.columns),
                                   padded_depth(block.depth), i, first_of_step(rows_)},
                                  VertexState());
        if (is_new) state->second = states(block, i);
        set.launches.push_back(
            {.tile = block.tile,
             .state = state->second,
             .worker_words = vertex::kAmpStateWords,
             .stages = of_block,
             .weights = StateWord::address(
                 weights_.buffer, first_of_step(weights_) + i * groups(block.columns) *
                                                                kernel_.channels() *
                                                                room(block.depth, true) * bytes_),
             .weight_loads = static_cast<std::uint32_t>(vertex::amp_weight_loads(kernel_))});
      }
      set.flops += static_cast<std::uint64_t>(2 * block.batch.size() * block.rows.size() *
                                              block.columns.size() * block.depth.size());
    }
    builder_.add_compute(time, std::move(set));
  }

  /// States of all workers for block after block.
  [[nodiscard]] std::vector<StateWord> states(const ProductBlock& block, std::int64_t batch) const {
    const std::int64_t workers = builder_.machine().tile.workers;
    const std::int64_t rows = padded_rows(block.rows), row_pitch = pitch(block.rows, block.depth);
    const std::int64_t first_row =
        first_of_step(rows_) + batch * rows * room(block.depth, false) * bytes_;
    const std::int64_t first_sum = batch * product_.result_area(block) * 4;
    std::vector<StateWord> words;
    for (std::int64_t k = 0; k < padded_depth(block.depth); k += kernel_.depth()) {
      for (std::int64_t g = 0; g < groups(block.columns); ++g) {
        std::int64_t row = 0;
        for (std::int64_t w = 0; w < workers; ++w) {
          const std::int64_t n = vertex::amp_rows_of_worker(kernel_, rows, workers, w);
          const std::int64_t at =
              kernel_.rows_inside ? k * row_pitch + row * bytes_ : row * row_pitch + k * bytes_;
          const AmpProduct::State state{
              .sums = StateWord::address(products_,
                                         first_sum + (g * rows + row) * kernel_.channels() * 4),
              .rows = StateWord::address(rows_.buffer, first_row + at),
              .row_count = n,
              .pitch = row_pitch};
          state.append_words(kernel_, words);
          row += n;
        }
      }
    }
    return words;
  }

  ProgramBuilder& builder_;
  Values& values_;
  const Product& product_;
  const Origin& origin_;
  AmpProduct kernel_;
  std::int64_t bytes_;
  Operand rows_, weights_;
  BufferId products_{};
  std::int64_t step_ = 0;
  /// States by the sizes of a block, its number in the batch, and where its rows begin.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>,
           VertexState>
      launches_;
  std::map<std::tuple<bool, std::int64_t, std::int64_t, std::int64_t>, VertexState> transpositions_;
};

}  // namespace

Multiplied multiply_on_amp(ProgramBuilder& builder, Values& values, const Product& product) {
  return AmpLowering(builder, values, product).run();
}

}  // namespace superstep
