#include "compiler/ops/strided_box.h"

#include <algorithm>

namespace superstep {

StridedBox merged(const StridedBox& box) {
  StridedBox out{box.operand, {}, {}, {}, box.from_offset, box.to_offset};
  for (std::size_t i = 0; i < box.sizes.size(); ++i) {
    const std::int64_t size = box.sizes[i];
    if (size == 1) continue;
    if (!out.sizes.empty() && out.from_strides.back() == box.from_strides[i] * size &&
        out.to_strides.back() == box.to_strides[i] * size) {
      out.sizes.back() *= size;
      out.from_strides.back() = box.from_strides[i];
      out.to_strides.back() = box.to_strides[i];
    } else {
      out.sizes.push_back(size);
      out.from_strides.push_back(box.from_strides[i]);
      out.to_strides.push_back(box.to_strides[i]);
    }
  }
  return out;
}

std::vector<StridedBox> single_box(const StridedBox& box) {
  if (std::ranges::find(box.sizes, 0) != box.sizes.end()) return {};
  return {merged(box)};
}

}  // namespace superstep
