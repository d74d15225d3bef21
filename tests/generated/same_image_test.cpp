#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "compiler/compile.h"
#include "isa/machine_config.h"
#include "tests/generated/program.h"

namespace superstep {
namespace {

/// The first part of two images that differs, as in `segments[3]`; empty when none does.
class Difference {
 public:
  Difference(const ProgramImage& a, const ProgramImage& b) {
    list("segments", a.segments, b.segments);
    list("entries", a.entries, b.entries);
    list("streams", a.streams, b.streams);
    one("first", a.first, b.first);
    one("next", a.next, b.next);
    one("last", a.last, b.last);
    list("marks", a.marks, b.marks);
    list("calls", a.calls, b.calls);
    list("info.steps", a.info.steps, b.info.steps);
    list("info.memory", a.info.memory, b.info.memory);
    list("info.tensors", a.info.tensors, b.info.tensors);
    list("info.vertex_types", a.info.vertex_types, b.info.vertex_types);
    list("info.codelets", a.info.codelets, b.info.codelets);
    list("info.step_memory", a.info.step_memory, b.info.step_memory);
    list("info.tile_peaks", a.info.tile_peaks, b.info.tile_peaks);
    list("info.exchanges", a.info.exchanges, b.info.exchanges);
    list("info.events", a.info.events, b.info.events);
    one("some other part", a, b);
  }

  [[nodiscard]] const std::string& part() const { return part_; }

 private:
  template <typename Part>
  void one(std::string_view name, const Part& a, const Part& b) {
    if (part_.empty() && !(a == b)) part_ = name;
  }
  template <typename Part>
  void list(std::string_view name, const std::vector<Part>& a, const std::vector<Part>& b) {
    const auto at = std::ranges::mismatch(a, b).in1;
    if (part_.empty() && a != b) part_ = fmt::format("{}[{}]", name, at - a.begin());
  }

  std::string part_;
};

void expect_same_image_for_any_threads(const std::string& name, const Module& module,
                                       const std::string& machine_name) {
  const MachineConfig machine = load_machine(machine_name);
  const auto image = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return compile(module, machine, {.keep_exchange_plan = true});
  };
  const ProgramImage one = image(1);
  ASSERT_FALSE(one.segments.empty()) << name;
  for (const std::size_t threads : {2U, 4U}) {
    EXPECT_EQ(Difference(one, image(threads)).part(), "")
        << "of " << name << " on " << machine_name << " with " << threads << " threads";
  }
}

TEST(SameImage, NamesThePartThatDiffers) {
  const ProgramImage one = compile(generate_program(1).module, load_machine("tiny4"));
  ProgramImage other = one;
  EXPECT_EQ(Difference(one, other).part(), "");
  other.info.steps.back().predicted_cycles += 1;
  EXPECT_EQ(Difference(one, other).part(),
            fmt::format("info.steps[{}]", one.info.steps.size() - 1));
  other.segments.back().bytes.back() ^= 1;
  EXPECT_EQ(Difference(one, other).part(), fmt::format("segments[{}]", one.segments.size() - 1));
  other = one;
  other.stack_bytes += 8;
  EXPECT_EQ(Difference(one, other).part(), "some other part");
}

TEST(SameImage, OfModelsForAnyNumberOfThreads) {
  const std::filesystem::path models = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models";
  int found = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(models)) {
    if (file.path().extension() != ".mlir") continue;
    ++found;
    const std::string name = file.path().lexically_relative(models).string();
    if (name.starts_with("decoder")) continue;  // takes minutes
    const Module module = import_stablehlo(read_text_file(file.path()), name);
    // Only machines of more tiles have room for the weights of one, the numbers, images and rows of
    // others.
    const auto is_one_of = [&](std::initializer_list<std::string_view> folders) {
      return std::ranges::any_of(folders, [&](auto folder) { return name.starts_with(folder); });
    };
    for (const char* machine :
         is_one_of({"mnist_mlp", "normals", "convolution", "spectrum"}) ? std::vector{"bow"}
         : is_one_of({"cnn", "rows", "order"})                          ? std::vector{"small64"}
                                               : std::vector{"tiny4", "small64"}) {
      expect_same_image_for_any_threads(name, module, machine);
    }
  }
  EXPECT_GE(found, 7);
}

TEST(SameImage, OfGeneratedProgramsForAnyNumberOfThreads) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Module module = generate_program(seed).module;
    for (const char* machine : {"tiny4", "small64"}) {
      expect_same_image_for_any_threads(fmt::format("program {}", seed), module, machine);
    }
  }
}

}  // namespace
}  // namespace superstep
