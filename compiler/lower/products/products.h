#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/lower/products/product_op.h"
#include "compiler/lower/products/product_plan.h"
#include "compiler/lower/values.h"

namespace superstep {

struct Product;

/// Lowers the products of a program one by one. Those that are still to come are known, so that one
/// can leave an operand where a later one takes it.
class Products {
 public:
  Products(ProgramBuilder& builder, Values& values, std::vector<ProductOp> all,
           const SqueezedProducts& squeezed)
      : builder_(builder), values_(values), all_(std::move(all)), squeezed_(squeezed) {}

  /// Lowers product `number` of them; they come in ascending order.
  void lower(std::size_t number);

 private:
  /// The rows of a product, on their tiles.
  struct RowsThere {
    std::shared_ptr<const Product> product;
    ProductProblem problem;
    StoredValue rows;
  };
  /// A later product that may take the rows of product `number`.
  [[nodiscard]] std::optional<ProductProblem> follower_of(std::size_t number,
                                                          const ProductProblem& problem,
                                                          const Product& product) const;

  /// Keeps what was planned, and what of it its user may not expect.
  void note(const ProductProblem& problem, const Product& product, std::vector<BufferId> buffers);
  /// What holds for the product that is being lowered, if it must do with less room.
  [[nodiscard]] const SqueezedProduct* squeezed() const;

  /// Bytes of the operands that a tile has from the beginning.
  [[nodiscard]] static std::int64_t bytes_there(const Product& product);

  /// Where a product begins. Equal ones that follow one another, as those of the layers of a deep
  /// network, take the same tiles, so that their steps are equal; those that are ready at once do
  /// not.
  [[nodiscard]] std::uint32_t first_tile(const Op& op, const ProductPlan& plan);

  struct Start {
    std::uint32_t tile = 0;
    Time ready;  ///< of the operands of the last product there
  };
  std::map<std::vector<std::int64_t>, std::vector<Start>> starts_;  ///< by sizes and splits
  ProgramBuilder& builder_;
  Values& values_;
  std::vector<ProductOp> all_;
  const SqueezedProducts& squeezed_;
  std::vector<RowsThere> rows_there_;
  std::int64_t bytes_that_stay_ = 0;
};

}  // namespace superstep
