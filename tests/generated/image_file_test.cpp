// Images of the compiler in their file form.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "compiler/compile.h"
#include "isa/image_file.h"
#include "tests/generated/program.h"
#include "tests/scratch_folder.h"

namespace superstep {
namespace {

ProgramImage image_of(const Module& module, const std::string& machine) {
  ProgramImage image = compile(module, load_machine(machine), {.keep_exchange_plan = true});
  image.sources = machine_sources(machine);
  return image;
}

void expect_same_from_file(const std::string& name, const ProgramImage& image) {
  for (const Problem& problem : problems(image)) ADD_FAILURE() << name << ": " << problem.message;
  const std::filesystem::path path = scratch_folder() / "image.h5";
  write_image(path, image);
  EXPECT_TRUE(read_image(path) == image) << name;
}

TEST(ImageFile, OfEveryModelGivesTheSameImage) {
  const std::filesystem::path models = std::filesystem::path(SUPERSTEP_SOURCE_DIR) / "models";
  int found = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(models)) {
    if (file.path().extension() != ".mlir") continue;
    ++found;
    const std::string name = file.path().lexically_relative(models).string();
    if (name == "decoder/train_step.mlir") continue;  // takes a minute
    const bool is_large =
        name.starts_with("mnist_mlp") || name.starts_with("normals") || name.starts_with("decoder");
    const Module module = import_stablehlo(read_text_file(file.path()), name);
    expect_same_from_file(name, image_of(module, is_large ? "bow" : "small64"));
  }
  EXPECT_GE(found, 7);
}

TEST(ImageFile, OfGeneratedProgramsGivesTheSameImage) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    expect_same_from_file("program " + std::to_string(seed),
                          image_of(generate_program(seed).module, "tiny4"));
  }
}

TEST(ImageFile, KeepsWhatTheProgramCallsItsArgumentsAndResults) {
  const std::filesystem::path path = scratch_folder() / "image.h5";
  const std::string affine = SUPERSTEP_SOURCE_DIR "/models/quickstart/affine.mlir";
  write_image(path, image_of(import_stablehlo(read_text_file(affine), affine), "tiny4"));
  std::vector<std::string> labels;
  for (const Stream& stream : read_image(path).streams) labels.push_back(stream.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"", "w", "x", "b", "result"}));
}

class StoredImage : public ::testing::Test {
 protected:
  /// What is said of the file; empty when it is taken.
  [[nodiscard]] std::string refusal(const std::vector<std::string>& overrides = {}) const {
    try {
      (void)read_image(path_, overrides);
      return {};
    } catch (const MalformedInput& error) {
      return error.what();
    }
  }
  void set(const char* attribute, const std::string& text) const {
    Hdf5File::open(path_, Hdf5File::Access::kWrite).set_attribute("/", attribute, text);
  }
  [[nodiscard]] std::string error(const std::string& message) const {
    return path_.string() + ": error: " + message;
  }

  const std::filesystem::path path_ = scratch_folder() / "image.h5";
  ProgramImage image_ = image_of(generate_program(3).module, "tiny4");
};

TEST_F(StoredImage, OfAnotherMajorVersionIsToBeCompiledAgain) {
  write_image(path_, image_);
  set("format_version", "1.7.0");
  EXPECT_EQ(refusal(), "");
  set("format_version", "2.0.0");
  EXPECT_EQ(refusal(), error("is superstep-image/2.0.0, and this version of Superstep reads "
                             "superstep-image/1.3.0: compile again"));
  set("format", "superstep-trace");
  EXPECT_EQ(refusal(), error("is a superstep-trace, no program image; `superstep compile "
                             "PROGRAM.mlir -o FILE` writes one"));
}

TEST_F(StoredImage, WithOtherContentsThanWereWrittenIsDamaged) {
  write_image(path_, image_);
  Hdf5File file = Hdf5File::open(path_, Hdf5File::Access::kWrite);
  const std::uint32_t other = image_.stack_bytes + 8;
  file.write("/stack_bytes", &other);
  file.close();
  EXPECT_EQ(refusal(), error("is a damaged image (its contents are not those that were written): "
                             "compile again"));
}

TEST_F(StoredImage, IsRefusedWithAllItsProblems) {
  image_.entries.back().tile = TileId{4};
  image_.segments.front().address = 0x1000;
  image_.segments.back().address = 0xfffffffc;
  image_.info.steps.front().parent = 0;
  write_image(path_, image_);
  const std::string text = refusal();
  EXPECT_NE(text.find(error("segments[0]: ")), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 more like it"), std::string::npos) << text;
  EXPECT_NE(text.find("entries[3]: tile 4 of 4"), std::string::npos) << text;
  EXPECT_NE(text.find("info/steps[0]: it does not follow"), std::string::npos) << text;
}

TEST_F(StoredImage, TakesNumbersOfTheHostLinkOnly) {
  write_image(path_, image_);
  const ProgramImage other = read_image(path_, {"host.packet_overhead=20 ns"});
  EXPECT_EQ(other.machine.host.packet_overhead_ns, 20U);
  EXPECT_EQ(other.segments, image_.segments);
  EXPECT_THROW((void)read_image(path_, {"tile.workers=4"}), UserError);
}

}  // namespace
}  // namespace superstep
