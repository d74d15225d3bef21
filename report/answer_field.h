#pragma once

#include <string_view>

namespace superstep {

/// One field of a document; `steps[].name` is in every element of the list `steps`.
struct AnswerField {
  std::string_view path;
  std::string_view type;  ///< integer, number, text, boolean, list, object; `or null` may follow
  std::string_view unit, meaning;
};

}  // namespace superstep
