#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "compiler/graph/graph.h"

namespace superstep::import {

// What the text says, both printed forms alike, before names are resolved and types are checked.
// Views point into the text.

/// A type where it is used; without `type` it is one that Superstep does not have, or a group.
struct TypeUse {
  std::optional<TensorType> type;
  std::string unsupported;  ///< why there is no `type`
  std::size_t offset = 0;
  bool is_group = false;       ///< until `flatten`: a tuple, or a token, which has no parts
  std::vector<TypeUse> parts;  ///< of a group
  std::string label = {};      ///< of a result: `jax.result_info`
};

/// `%name#number`
struct ValueUse {
  std::string_view name;
  std::uint32_t number = 0;
  std::size_t offset = 0;
};

/// `%name:count =`
struct ResultGroup {
  std::string_view name;
  std::uint32_t count = 1;
  std::size_t offset = 0;
};

/// A line of a file, the alias of another location, or a name without a place.
struct SyntaxFrame {
  std::string_view alias;  ///< `#loc3`, or empty
  SourceLocation place;
  std::string name = {};  ///< `params.w1`, or empty
};

/// What a location says of files, innermost frame first.
using SyntaxLocation = std::vector<SyntaxFrame>;

struct SyntaxArgument {
  std::string_view name;
  TypeUse type;
  std::size_t offset = 0;
  std::optional<std::int64_t> alias;  ///< `tf.aliasing_output`
  SyntaxLocation location = {};       ///< JAX has its name there
};

struct SyntaxBlock;

struct SyntaxOp {
  std::string name;
  std::size_t offset = 0;
  std::vector<ResultGroup> results;
  std::vector<ValueUse> operands;
  std::vector<TypeUse> operand_types, result_types;
  Attributes attributes;
  std::vector<SyntaxBlock> regions;
  std::string callee;  ///< of `call`
  SyntaxLocation location;
  bool broken = false;  ///< already reported; its results exist but have no type
};

/// A block; the last op is its `return`.
struct SyntaxBlock {
  std::vector<SyntaxArgument> arguments;
  std::vector<SyntaxOp> ops;
};

struct SyntaxFunction {
  std::string name;
  std::size_t offset = 0;
  bool is_private = false;
  bool broken = false;
  std::vector<TypeUse> results;
  SyntaxBlock body;
};

struct SyntaxModule {
  std::string name;
  std::vector<SyntaxFunction> functions;
  std::deque<std::string> names;                                  ///< that the text does not have
  std::map<std::string, SyntaxLocation, std::less<>> locations;   ///< by alias: `#loc3`
  std::map<std::string, std::int64_t, std::less<>> mesh_devices;  ///< by the mesh's name
};

/// What an alias stands for, to which `followed` others led; null where it has no meaning, or where
/// so many led to it that they may go round in a circle.
[[nodiscard]] const SyntaxLocation* location_of(std::string_view alias, const SyntaxModule& module,
                                                int followed);

struct SyntaxField;
using SyntaxFields = std::vector<SyntaxField>;

/// An attribute as written. Structures like `#stablehlo.dot<lhs_… = [0]>` are dictionaries.
struct SyntaxAttribute {
  enum class Kind {
    kBool,
    kInteger,
    kFloat,
    kString,
    kList,
    kDictionary,
    kIntegers,
    kTensor,
    kFunctionType,
    kOpaque
  };
  Kind kind = Kind::kOpaque;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;  ///< of a string; of an opaque one, the text itself
  std::vector<SyntaxAttribute> list;
  SyntaxFields dictionary;
  std::vector<std::int64_t> integers;
  HostTensor tensor;
  TypeUse type;                  ///< of a `dense` one
  std::vector<TypeUse> results;  ///< of a function type
};

/// `name = value` of a dictionary or structure.
struct SyntaxField {
  std::string name;
  std::size_t offset = 0;
  SyntaxAttribute value;
};

}  // namespace superstep::import
