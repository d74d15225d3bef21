#pragma once

#include <cassert>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace poplar {

class StringRef : public std::string {
 public:
  using std::string::string;
  StringRef(const std::string& text) : std::string(text) {}  // NOLINT: implicit
  StringRef cloneAsString() const { return *this; }
};

/// A type of elements on the device; PopLibs' estimators only compare, name and size it.
class Type {
 public:
  Type() = default;
  Type(std::string name, std::size_t bytes) : name_(std::move(name)), bytes_(bytes) {}
  [[nodiscard]] StringRef toString() const { return name_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  bool operator==(const Type& other) const { return name_ == other.name_; }
  bool operator!=(const Type& other) const { return name_ != other.name_; }
  bool operator<(const Type& other) const { return name_ < other.name_; }

 private:
  std::string name_;
  std::size_t bytes_ = 0;
};
inline std::ostream& operator<<(std::ostream& out, const Type& type) {
  return out << type.toString();
}
inline std::size_t hash_value(const Type& type) {
  return std::hash<std::string>()(type.toString());
}

inline const Type BOOL("bool", 1), CHAR("char", 1), UNSIGNED_CHAR("unsigned char", 1),
    SIGNED_CHAR("signed char", 1), UNSIGNED_SHORT("unsigned short", 2), SHORT("short", 2),
    UNSIGNED_INT("unsigned int", 4), INT("int", 4), UNSIGNED_LONG("unsigned long", 4),
    LONG("long", 4), UNSIGNED_LONGLONG("unsigned long long", 8), LONGLONG("long long", 8),
    QUARTER("quarter", 1), HALF("half", 2), FLOAT("float", 4);

}  // namespace poplar

template <>
struct std::hash<poplar::Type> {
  std::size_t operator()(const poplar::Type& type) const { return hash_value(type); }
};
