#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "poplar/Vertex.hpp"
#include "tests/poplibs/entry.h"

/// The field `name` of the vertex class `V`.
#define POPLIBS_FIELD(name) \
  superstep::poplibs::describe<decltype(V::name)>(#name, __builtin_offsetof(V, name))

namespace superstep::poplibs {

static_assert(sizeof(HostEdge) == sizeof(poplar::HostEdge));

constexpr Layout layout_of(poplar::VectorLayout layout) {
  switch (layout) {
    case poplar::VectorLayout::SPAN:
      return Layout::kSpan;
    case poplar::VectorLayout::SHORT_SPAN:
      return Layout::kShortSpan;
    case poplar::VectorLayout::ONE_PTR:
      return Layout::kOnePointer;
    case poplar::VectorLayout::SCALED_PTR32:
      return Layout::kScaled32;
    case poplar::VectorLayout::SCALED_PTR64:
      return Layout::kScaled64;
    case poplar::VectorLayout::SCALED_PTR128:
      return Layout::kScaled128;
    case poplar::VectorLayout::COMPACT_PTR:
      return Layout::kCompact;
  }
  return Layout::kSpan;
}
constexpr Layout layout_of(poplar::VectorListLayout layout) {
  switch (layout) {
    case poplar::VectorListLayout::ONE_PTR:
      return Layout::kOnePointer;
    case poplar::VectorListLayout::DELTAN:
      return Layout::kDelta;
    // The compact form of Mk2 is the one that counts in elements.
    case poplar::VectorListLayout::DELTANELEMENTS:
    case poplar::VectorListLayout::COMPACT_DELTAN:
      return Layout::kDeltaElements;
  }
  return Layout::kDeltaElements;
}

/// What a C++ type of a field says about it.
template <class T>
struct Describe {
  static void fill(Field& field) {
    using Plain = std::remove_cv_t<T>;
    field.element_bytes = sizeof(Plain);
    field.element_alignment = alignof(Plain);
    if constexpr (std::is_same_v<Plain, float>) {
      field.element = Element::kFloat;
    } else if constexpr (std::is_same_v<Plain, half>) {
      field.element = Element::kHalf;
    } else if constexpr (std::is_same_v<Plain, quarter>) {
      field.element = Element::kQuarter;
    } else if constexpr (std::is_same_v<Plain, bool>) {
      field.element = Element::kBool;
    } else if constexpr (std::is_enum_v<Plain>) {
      field.element = Element::kUnsigned;
    } else if constexpr (std::is_integral_v<Plain>) {
      field.element = std::is_signed_v<Plain> ? Element::kSigned : Element::kUnsigned;
    }
  }
};
template <class T, poplar::VectorLayout L, unsigned A, bool I>
struct Describe<poplar::Vector<T, L, A, I>> {
  static void fill(Field& field) {
    Describe<T>::fill(field);
    if (field.shape == Shape::kVector) {
      field.inner_layout = field.layout;
      field.layout = layout_of(L);
      field.shape = Shape::kVectors;
      return;
    }
    field.shape = Shape::kVector;
    field.layout = layout_of(L);
    field.alignment = A;
    field.interleaved = I;
  }
};
template <class T, poplar::VectorListLayout L, unsigned A, bool I>
struct Describe<poplar::VectorList<T, L, A, I>> {
  static void fill(Field& field) {
    Describe<T>::fill(field);
    field.shape = Shape::kVectorList;
    field.layout = layout_of(L);
    field.alignment = A;
    field.interleaved = I;
  }
};
template <class T>
void describe_edge(Field& field, Direction direction) {
  Describe<T>::fill(field);
  field.direction = direction;
  if (field.shape == Shape::kValue) field.shape = Shape::kPointer;
}
template <class T>
struct Describe<poplar::Input<T>> {
  static void fill(Field& field) { describe_edge<T>(field, Direction::kInput); }
};
template <class T>
struct Describe<poplar::Output<T>> {
  static void fill(Field& field) { describe_edge<T>(field, Direction::kOutput); }
};
template <class T>
struct Describe<poplar::InOut<T>> {
  static void fill(Field& field) { describe_edge<T>(field, Direction::kInOut); }
};

template <class T>
Field describe(std::string name, std::size_t offset) {
  Field field;
  field.name = std::move(name);
  field.host_offset = offset;
  Describe<std::remove_cv_t<T>>::fill(field);
  return field;
}

/// The name of a type as the compiler spells it.
template <class V>
std::string_view spelled() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t start = text.find("V = ") + 4;
  const std::size_t end = text.rfind(']');
  const std::size_t more = text.find("; ", start);
  return text.substr(start, (more == std::string_view::npos ? end : more) - start);
}

/// Canonical names of a vertex class: for estimators, and the symbol of its assembly.
std::string vertex_type(std::string_view spelled);
std::string vertex_symbol(const std::string& type);

template <class V>
void add(std::vector<Entry>& entries, std::vector<Field> fields) {
  Entry entry;
  entry.type = vertex_type(spelled<V>());
  entry.symbol = vertex_symbol(entry.type);
  entry.kind = std::is_base_of_v<poplar::MultiVertex, V>        ? Entry::Kind::kMultiVertex
               : std::is_base_of_v<poplar::SupervisorVertex, V> ? Entry::Kind::kSupervisor
                                                                : Entry::Kind::kWorker;
  entry.host_bytes = sizeof(V);
  entry.fields = std::move(fields);
  entry.compute = [](void* vertex, unsigned worker) {
    if constexpr (requires(V & v) { v.compute(worker); }) {
      static_cast<V*>(vertex)->compute(worker);
    } else if constexpr (requires(V & v) { v.compute(); }) {
      static_cast<V*>(vertex)->compute();
    }
  };
  entries.push_back(std::move(entry));
}

}  // namespace superstep::poplibs
