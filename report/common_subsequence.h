#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace superstep {

/// What it is worth to pair an element of one sequence with one of another; 0 where they are no
/// pair.
using PairWorth = std::function<std::uint32_t(std::size_t, std::size_t)>;

/// The pairs of the heaviest common subsequence of two sequences of so many elements, ascending: a
/// weighted longest common subsequence in which a pair right behind another is worth 1 more, so
/// that what was put in between stays together. Of equal ones that whose pairs are earliest in the
/// second. Takes time and memory as the product of both.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> common_subsequence(
    std::size_t before, std::size_t after, const PairWorth& worth);

}  // namespace superstep
