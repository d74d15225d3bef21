#pragma once

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "poplar/Target.hpp"
#include "poplar/VectorLayout.hpp"

namespace poplar {

/// What an estimator may ask of one field: sizes, layouts, and the values it had at the start.
class FieldData {
 public:
  class SizeT {
   public:
    explicit SizeT(std::size_t size) : size_(size) {}
    [[nodiscard]] std::size_t size() const { return size_; }

   private:
    std::size_t size_;
  };

  bool is_two_dimensional = false;
  std::vector<std::size_t> sizes;                  ///< of each inner vector; one for a vector
  std::vector<std::vector<unsigned char>> values;  ///< bytes of each inner vector
  std::size_t element_bytes = 0;
  std::vector<layout::Vector> layouts;  ///< outer, then inner
  layout::VectorList list_layout = layout::VectorList::NotAVector;

  [[nodiscard]] std::size_t size() const { return is_two_dimensional ? sizes.size() : sizes.at(0); }
  [[nodiscard]] SizeT operator[](std::size_t index) const { return SizeT(getSizeAtIndex(index)); }
  [[nodiscard]] std::size_t getSizeAtIndex(std::size_t index) const { return sizes.at(index); }
  [[nodiscard]] layout::Vector getProfilerVectorLayout(unsigned dimension) const {
    return layouts.at(dimension);
  }
  [[nodiscard]] layout::VectorList getProfilerVectorListLayout() const { return list_layout; }

  template <class T>
  [[nodiscard]] T getInitialValue(const Target&) const {
    return value<T>(values.at(0), 0);
  }
  template <class T>
  [[nodiscard]] std::vector<T> getInitialValues(const Target&) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return row<T>(0);
    } else {
      std::vector<T> rows;
      for (std::size_t i = 0; i < values.size(); ++i)
        rows.push_back(row<typename T::value_type>(i));
      return rows;
    }
  }

 private:
  template <class T>
  [[nodiscard]] T value(const std::vector<unsigned char>& bytes, std::size_t index) const {
    unsigned long long bits = 0;
    std::memcpy(&bits, bytes.data() + index * element_bytes, element_bytes);
    if constexpr (std::is_floating_point_v<T>) {
      T number;
      std::memcpy(&number, &bits, sizeof number);
      return number;
    } else {
      return static_cast<T>(bits);
    }
  }
  template <class T>
  [[nodiscard]] std::vector<T> row(std::size_t index) const {
    std::vector<T> result;
    for (std::size_t i = 0; i < sizes.at(index); ++i) {
      result.push_back(value<T>(values.at(index), i));
    }
    return result;
  }
};

/// The fields of one vertex by name.
class VertexIntrospector {
 public:
  std::map<std::string, FieldData> fields;

  [[nodiscard]] const FieldData& getFieldInfo(const std::string& name) const {
    const auto found = fields.find(name);
    if (found == fields.end()) throw std::runtime_error("the vertex has no field " + name);
    return found->second;
  }
};

}  // namespace poplar
