#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace superstep {

/// The SHA-256 (FIPS 180-4) of bytes that come in parts.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void add(std::string_view bytes);
  /// Of all bytes so far, as 64 hexadecimal digits; nothing may be added to it any more.
  [[nodiscard]] std::string digest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// That of some bytes.
[[nodiscard]] std::string sha256(std::string_view bytes);

}  // namespace superstep
