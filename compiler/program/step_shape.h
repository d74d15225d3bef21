#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "compiler/program/program.h"

namespace superstep {

/// Numbers of layouts, equal for equal intervals.
class LayoutNumbers {
 public:
  std::size_t of(const Layout* layout);

 private:
  struct Less {
    bool operator()(const Layout* a, const Layout* b) const {
      return a->intervals() < b->intervals();
    }
  };
  std::unordered_map<const Layout*, std::size_t> by_address_;
  std::map<const Layout*, std::size_t, Less> by_content_;
};

/// A step that is no call as words that do not depend on which buffers it uses, and those buffers
/// in order of first use. Equal words: the same work.
class StepShape {
 public:
  StepShape(const LoweredProgram& program, const Step& step, LayoutNumbers& layouts);

  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }
  [[nodiscard]] const std::vector<BufferId>& buffers() const { return buffers_; }
  [[nodiscard]] std::uint64_t hash() const;

 private:
  void add(std::uint64_t word) { words_.push_back(word); }
  void add(BufferId id);
  void add(const Movement::End& end);
  void add(const StateWord& word);
  void add(const VertexState& state);
  void add(const ComputeSet& set);
  void add(const vertex::Scalars& scalars);
  void add(const Block& block);
  void add(const Step& step);
  void add(const Superstep& superstep);
  void add(const Call& call);
  void add(const HostVisit& visit);
  void add(const Loop& loop);
  void add(const Branch& branch);

  const LoweredProgram& program_;
  LayoutNumbers& layouts_;
  std::vector<std::uint64_t> words_;
  std::vector<BufferId> buffers_;
  std::unordered_map<std::uint32_t, std::size_t> number_;
  std::unordered_map<const void*, std::size_t> states_;
};

}  // namespace superstep
