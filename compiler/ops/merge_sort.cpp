// Runs of a few rows are sorted by a network (Batcher's merge exchange; Knuth, The Art of Computer
// Programming, volume 3, 5.2.2, algorithm M), element by element of as many tensors. Then pairs of
// runs are merged until there is one: a merge is one move and one vertex.

#include "compiler/ops/merge_sort.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "compiler/ops/ops.h"

namespace superstep {
namespace {

/// Rows of the runs that a network sorts [chosen: their number is then within an eighth of it, so
/// that little is padding].
constexpr std::int64_t kMostOfRun = 8;

/// The words of a row, one or two.
using Key = std::vector<Tensor>;

/// Without booleans between ops, which would be stored as bytes.
void order(Key& first, Key& second) {
  const Key a = first, b = second;
  first[0] = minimum(a[0], b[0]);
  second[0] = maximum(a[0], b[0]);
  if (a.size() == 1) return;
  const Tensor of_equal = minimum(a[1], b[1]);
  first[1] =
      select(compare("LT", a[0], b[0]), a[1], select(compare("LT", b[0], a[0]), b[1], of_equal));
  second[1] = a[1] ^ b[1] ^ first[1];
}

void sort_by_exchange(std::vector<Key>& keys) {
  const auto n = static_cast<std::uint32_t>(keys.size());
  const std::uint32_t top = std::bit_ceil(n) / 2;
  for (std::uint32_t p = top; p > 0; p /= 2) {
    for (std::uint32_t q = top, r = 0, d = p;; d = q - p, q /= 2, r = p) {
      for (std::uint32_t i = 0; i + d < n; ++i) {
        if ((i & p) == r) order(keys[i], keys[i + d]);
      }
      if (q == p) break;
    }
  }
}

}  // namespace

MergeRuns::MergeRuns(std::int64_t count) {
  while (runs * kMostOfRun < count) runs *= 2;
  length = (count + runs - 1) / runs;
}

std::vector<Tensor> merge_sorted(const std::vector<Tensor>& words, const MergeKeys& merge) {
  GraphBuilder& builder = *words[0].builder;
  const std::int64_t batches = words[0].shape()[0], count = words[0].shape()[1];
  const MergeRuns cut(count);
  const std::int64_t run = cut.length, runs = cut.runs, padded = cut.rows();
  const auto as_words = static_cast<std::int64_t>(words.size());

  std::vector<Key> keys(static_cast<std::size_t>(run));
  for (const Tensor& word : words) {
    HostTensor last(TensorType{DType::kI32, {}});
    last.set(0, std::numeric_limits<std::int32_t>::max());
    const Tensor all = padded == count ? word
                                       : pad(word, builder.constant(std::move(last)), {0, 0},
                                             {0, padded - count}, {0, 0});
    for (std::int64_t i = 0; i < run; ++i) {
      keys[static_cast<std::size_t>(i)].push_back(window(all, {0, i * runs}, {batches, runs}));
    }
  }
  sort_by_exchange(keys);

  // Runs descend by turns.
  const Tensor number = builder.iota({DType::kI32, {batches, runs}}, 1);
  const Tensor descends = (number & number.like(1)) > 0.0;
  std::vector<Tensor> in_place;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::vector<Tensor> parts;
    for (std::size_t w = 0; w < words.size(); ++w) {
      const Tensor x =
          runs == 1 ? keys[i][w] : select(descends, keys[keys.size() - 1 - i][w], keys[i][w]);
      parts.push_back(reshape(x, {batches, runs, 1, 1}));
    }
    in_place.push_back(concatenate(parts, 3));
  }
  Tensor merged = concatenate(in_place, 2);
  for (std::int64_t left = runs / 2, length = 2 * run; left > 0; left /= 2, length *= 2) {
    merged = merge(reshape(merged, {batches * left, length, as_words}), left > 1);
  }
  const Tensor all = reshape(merged, {batches, padded, as_words});
  std::vector<Tensor> results;
  for (std::int64_t w = 0; w < as_words; ++w) {
    results.push_back(reshape(window(all, {0, 0, w}, {batches, count, 1}), {batches, count}));
  }
  return results;
}

}  // namespace superstep
