#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "compiler/lower/products/product_split.h"

namespace superstep {
namespace {

/// [batch][row or column][depth] or, `depth_outside`, [batch][depth][row or column].
BlockLayout dense_layout(const ProductSide& side, const OperandBlock& block, bool depth_outside) {
  const std::int64_t area = block.free.size() * block.depth.size();
  return {block.batch.size() * area,
          {{{{side.batch, block.batch, area},
             {side.free, block.free, depth_outside ? 1 : block.depth.size()},
             {side.depth, block.depth, depth_outside ? block.free.size() : 1}},
            0}}};
}

}  // namespace

Multiplied multiply_dense(ProgramBuilder& builder, Values& values, const Product& product,
                          DType result) {
  const Origin& origin = product.origin;
  struct Operand {
    const ProductSide& side;
    std::vector<OperandBlock> blocks;
    bool depth_outside;
    LayoutPtr layout;
    Reading reading;
    const char* name;
  };
  const auto operand = [&](const ProductSide& side, std::vector<OperandBlock> blocks,
                           const char* name) {
    const bool depth_outside = !has_depth_inside(values, side);
    const auto lay_out = [&](const OperandBlock& block) {
      return dense_layout(side, block, depth_outside);
    };
    LayoutPtr layout = place_blocks(blocks, lay_out);
    Reading reading = gather(values, side, blocks, lay_out);
    return Operand{side, std::move(blocks), depth_outside, std::move(layout), std::move(reading),
                   name};
  };
  std::array<Operand, 2> operands{operand(product.left, product.left_blocks(), ".rows"),
                                  operand(product.right, product.right_blocks(), ".columns")};
  std::array<BufferId, 2> buffers{};
  Time gathered;
  for (std::size_t i = 0; i < 2; ++i) {
    Operand& from = operands[i];
    const auto add = [&](const char* name) {
      return values.add_temporary(product.input, from.layout, origin.name + name, origin.source);
    };
    buffers[i] = add(from.name);
    // What lies the other way in its source comes as it is, in long runs, and is transposed here.
    const BufferId landing = from.depth_outside ? add(".untransposed") : buffers[i];
    Time time = move(builder, landing, from.reading.pieces, from.reading.ready, origin);
    if (from.depth_outside) {
      std::vector<Piece> pieces;
      for (const OperandBlock& block : from.blocks) {
        const std::int64_t free = block.free.size(), depth = block.depth.size();
        pieces.push_back({landing, simplified({block.begin,
                                               block.begin,
                                               {{block.batch.size(), free * depth, free * depth},
                                                {free, 1, depth},
                                                {depth, free, 1}}})});
      }
      time = move(builder, buffers[i], pieces, time, origin);
    }
    gathered = std::max(gathered, time);
  }
  const BufferId products = add_products(values, product, result);
  const vertex::DenseProduct kind{.input = product.input, .output = result};
  ComputeSet set{
      .name = origin.name,
      .operation = origin.operation,
      .source = origin.source,
      .codelet = builder.add_codelet("dense product " + std::string(name_of(kind.input)) + ' ' +
                                         std::string(name_of(kind.output)),
                                     kind),
      .launches = {},
      .reads = {buffers[0], buffers[1]},
      .writes = {products}};
  const auto input_bytes = static_cast<std::int64_t>(size_of(product.input));
  const std::int64_t result_bytes = builder.buffer(products).element_bytes;
  for (const ProductBlock& block : product.blocks()) {
    const std::int64_t m = block.rows.size(), n = block.columns.size(), k = block.depth.size();
    for (std::int64_t i = 0; i < block.batch.size(); ++i) {
      const std::int64_t area = product.result_area(block);
      const vertex::DenseProduct::State state{
          .rows = m,
          .columns = n,
          .depth = k,
          .a = StateWord::address(buffers[0], i * m * k * input_bytes),
          .b = StateWord::address(buffers[1], i * n * k * input_bytes),
          .c = StateWord::address(products, i * area * result_bytes)};
      set.launches.push_back({.tile = block.tile, .state = state.words()});
    }
    if (is_float(product.input)) {
      set.flops += static_cast<std::uint64_t>(2 * block.batch.size() * m * n * k);
    }
  }
  builder.add_compute(gathered, std::move(set));
  return {products, gathered, {}, {}};
}

}  // namespace superstep
