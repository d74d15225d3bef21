#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/vertex_fields.h"
#include "tools/codelet_run.h"
#include "tools/codelet_spec.h"

namespace superstep {

/// The vectors and the vertex state of an entry point in the memory of a tile.
class CodeletMemory {
 public:
  /// Places and writes them; region 0 is free from `code_end` on. Throws MalformedInput or
  /// DoesNotFit with the place in the file.
  CodeletMemory(const CodeletSpec& spec, CodeletRun& run, std::uint32_t code_end);

  [[nodiscard]] std::uint32_t vertex_state() const { return state_; }
  [[nodiscard]] std::uint32_t address_of(const std::string& tensor) const;
  /// What a tensor holds now.
  [[nodiscard]] HostTensor value_of(const CodeletTensor& tensor, CodeletRun& run) const;
  /// Tensors behind whose end a byte has changed.
  [[nodiscard]] std::vector<std::string> overrun(CodeletRun& run) const;

 private:
  struct Placed {
    std::string name;
    const CodeletTensor* tensor = nullptr;  ///< null for what is not the user's
    std::uint32_t begin = 0;
    std::uint32_t bytes = 0;
  };

  void place_tensor(const CodeletTensor& tensor);
  std::uint32_t place_words(const std::string& name, std::uint32_t bytes);
  void place_state(const CodeletSpec& spec);
  void add_field(VertexFields& state, const CodeletSpec& spec, const CodeletField& field);
  [[nodiscard]] bool shares_element(const CodeletTensor& tensor, std::uint32_t address,
                                    std::uint32_t* beyond) const;
  void check_overlaps(const CodeletSpec& spec) const;

  const MachineConfig& machine_;
  CodeletRun& run_;
  std::uint32_t next_[2];
  std::uint32_t end_[2];
  std::vector<Placed> placed_;
  std::uint32_t state_ = 0;
};

}  // namespace superstep
