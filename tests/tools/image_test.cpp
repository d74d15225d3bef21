// Compiled programs in files: what `compile -o` writes, `run` takes, and the cache keeps.

#include <chrono>
#include <nlohmann/json.hpp>

#include "base/hdf5_file.h"
#include "compiler/compile.h"
#include "isa/image_file.h"
#include "tests/tools/program.h"
#include "tests/tools/same_traces.h"
#include "tools/image_cache.h"

namespace superstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "models/linear_regression/train_step.mlir";
constexpr const char* kCalls = " --input models/linear_regression/train.h5 --repeat 3";

class ImageCommand : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }

  /// Runs a program with a trace and results of that name; what it printed.
  ProgramRun traced(const std::string& words, const std::string& name,
                    const std::string& environment = "") const {
    const ProgramRun run =
        superstep("run " + words + " --trace vertex -q -o " + file(name + ".trace") + " --output " +
                      file(name + ".results"),
                  environment);
    EXPECT_EQ(run.code, 0) << run.err;
    return run;
  }
  void expect_same(const std::string& a, const std::string& b) const {
    expect_same_traces(file(a + ".trace"), file(b + ".trace"), TraceLevel::kVertex);
    EXPECT_TRUE(text_of(file(a + ".results")) == text_of(file(b + ".results")));
  }
  void compile_image() const {
    const ProgramRun compiled = superstep(std::string("compile ") + kProgram +
                                          " -m tiny4 --set tile.workers=5 -q -o " + image_);
    ASSERT_EQ(compiled.code, 0) << compiled.err;
    EXPECT_TRUE(compiled.out.ends_with("Image     " + image_ + "\n")) << compiled.out;
  }

  const fs::path folder_ = scratch_folder();
  const std::string image_ = file("image.h5");
};

TEST_F(ImageCommand, AnImageRunsAsTheProgramThatItWasMadeOf) {
  compile_image();
  traced(std::string(kProgram) + " -m tiny4 --set tile.workers=5" + kCalls, "text");
  traced(image_ + kCalls, "image");
  expect_same("text", "image");
}

TEST_F(ImageCommand, EveryModelRunsFromItsImageAsFromItsText) {
  for (const char* model : {"quickstart/affine", "kmeans/kmeans", "chars/complete", "heat/heat",
                            "encoder/encoder", "lstm/train_step", "digits_mlp/accuracy"}) {
    SCOPED_TRACE(model);
    const std::string program = std::string("models/") + model + ".mlir -m small64";
    ASSERT_EQ(superstep("compile " + program + " -q -o " + image_).code, 0);
    traced(program + " --input random:1", "text");
    traced(image_ + " --input random:1", "image");
    expect_same("text", "image");
  }
}

TEST_F(ImageCommand, AnImageKeepsItsMachineButForTheHostLink) {
  compile_image();
  const std::string run = "run " + image_ + " --input random:1 -q --json ";
  const ProgramRun machine = superstep(run + "-m bow");
  EXPECT_EQ(machine.code, 2);
  EXPECT_NE(machine.err.find("superstep compile PROGRAM.mlir -m bow -o FILE"), std::string::npos)
      << machine.err;
  const ProgramRun key = superstep(run + "--set tile.workers=4");
  EXPECT_EQ(key.code, 2);
  EXPECT_NE(key.err.find("'tile.workers' is part of what was compiled"), std::string::npos)
      << key.err;
  const auto plain = nlohmann::json::parse(superstep(run).out);
  const auto slow =
      nlohmann::json::parse(superstep(run + "--set 'host.phase_latency=9000 ns'").out);
  EXPECT_GT(slow["cycles"]["host"], plain["cycles"]["host"]);
  EXPECT_EQ(slow["cycles"]["device"], plain["cycles"]["device"]);
  EXPECT_EQ(slow["machine"], "tiny4 with tile.workers=5, host.phase_latency=9000 ns");
  EXPECT_EQ(slow["program_sha256"], plain["program_sha256"]);
}

TEST_F(ImageCommand, AnImageMayBeRunOnTheMachineThatItHas) {
  const std::string affine = "models/quickstart/affine.mlir -m tiny4 -q -o " + image_;
  ASSERT_EQ(superstep("compile " + affine).code, 0);
  const std::string run = "run " + image_ + " --input random:1 -q -m ";
  EXPECT_EQ(superstep(run + "tiny4").code, 0);
  EXPECT_EQ(superstep(run + "tiny4 --set host.links=2").code, 0);
  const ProgramRun other = superstep(run + "gc200");
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("is compiled for tiny4; `superstep compile PROGRAM.mlir -m gc200"),
            std::string::npos)
      << other.err;
}

TEST_F(ImageCommand, AnImageShowsThePlanOfItsProgram) {
  compile_image();
  const std::string options = " -m tiny4 --set tile.workers=5 -q --json";
  auto text = nlohmann::json::parse(superstep(std::string("compile ") + kProgram + options).out);
  auto image = nlohmann::json::parse(superstep("compile " + image_ + " -q --json").out);
  for (auto* answer : {&text, &image}) {
    for (const char* own : {"command", "machine_overrides", "seconds"}) answer->erase(own);
  }
  EXPECT_EQ(image, text);
  const ProgramRun drawing = superstep("compile " + image_ + " -q --emit steps");
  EXPECT_EQ(drawing.code, 2);
  EXPECT_NE(drawing.err.find("is compiled: -o and --emit"), std::string::npos) << drawing.err;
}

TEST_F(ImageCommand, AnImageReplacesNoInput) {
  const ProgramRun same =
      superstep(std::string("compile ") + kProgram + " -m tiny4 -q -o " + kProgram);
  EXPECT_EQ(same.code, 2);
  EXPECT_NE(same.err.find("would replace the program"), std::string::npos) << same.err;
}

TEST_F(ImageCommand, WhatIsNoImageIsRefused) {
  const ProgramRun tensors = superstep("run models/linear_regression/train.h5 --input random:1 -q");
  EXPECT_EQ(tensors.code, 5);
  EXPECT_NE(tensors.err.find("is an HDF5 file, but no program image"), std::string::npos)
      << tensors.err;
}

// It was written before machines had `tile.region2`.
TEST_F(ImageCommand, AnImageOfAMachineWithOtherKeysIsToBeCompiledAgain) {
  const ProgramRun run =
      superstep("run tests/tools/image_without_region2.h5 --input random:1 -q --no-cache");
  EXPECT_EQ(run.code, 5);
  EXPECT_NE(run.err.find("image_without_region2.h5: error: is of a version of Superstep whose "
                         "machines have other keys: compile again"),
            std::string::npos)
      << run.err;
}

// It is of square_plus_one.mlir by format 1.2, before streams had labels.
TEST_F(ImageCommand, AnImageOfAnOlderMinorVersionRunsAsOneOfThis) {
  const std::string square = "models/quickstart/square_plus_one.mlir -m tiny4";
  const auto labels = [&](const std::string& name) {
    return Hdf5File::open(file(name + ".trace"), Hdf5File::Access::kRead)
        .read_text("/program/stream/label");
  };
  traced("tests/tools/image_of_format_1_2.h5 --input random:1", "older");
  traced(square + " --input random:1", "text");
  EXPECT_TRUE(text_of(file("older.results")) == text_of(file("text.results")));
  EXPECT_EQ(labels("older"), (std::vector<std::string>{"", "", ""}));
  EXPECT_EQ(labels("text"), (std::vector<std::string>{"", "data", "result"}));
}

class CachedRun : public ImageCommand {
 protected:
  std::vector<fs::path> entries() const {
    std::vector<fs::path> paths;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(cache_ / "superstep" / "images", none))
      paths.push_back(entry.path());
    return paths;
  }

  const fs::path cache_ = folder_ / "cache";
  const std::string environment_ = "XDG_CACHE_HOME=" + cache_.string();
  const std::string words_ = std::string(kProgram) + " -m tiny4" + kCalls;
};

TEST_F(CachedRun, GivesWhatAFreshOneGives) {
  fs::remove_all(cache_);
  traced(words_ + " --no-cache", "without", environment_);
  EXPECT_TRUE(entries().empty());
  traced(words_, "first", environment_);
  ASSERT_EQ(entries().size(), 1U);
  traced(words_, "second", environment_);
  EXPECT_EQ(entries().size(), 1U);
  expect_same("without", "first");
  expect_same("without", "second");
  traced(words_ + " --set 'host.packet_overhead=11 ns'", "other", environment_);
  EXPECT_EQ(entries().size(), 2U);
}

TEST_F(CachedRun, MakesADamagedEntryAnew) {
  fs::remove_all(cache_);
  traced(words_, "first", environment_);
  ASSERT_EQ(entries().size(), 1U);
  const fs::path entry = entries()[0];
  const std::string whole = text_of(entry);
  for (const std::size_t bytes : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
    fs::resize_file(entry, bytes);
    traced(words_, "again", environment_);
    EXPECT_TRUE(text_of(entry) == whole);
    expect_same("first", "again");
  }
  // A byte that is not as it was: it is noticed, or none of the image's. HDF5 leaks where it
  // notices.
  const std::string environment = environment_ + " ASAN_OPTIONS=detect_leaks=0";
  constexpr std::size_t kBytes = 8;
  std::size_t noticed = 0;
  for (std::size_t i = 0; i < kBytes; ++i) {
    std::string damaged = whole;
    char& byte = damaged[whole.size() * (2 * i + 1) / (2 * kBytes)];
    byte = static_cast<char>(byte ^ 0x10);
    std::ofstream(entry, std::ios::binary) << damaged;
    traced(words_, "again", environment);
    noticed += text_of(entry) == whole ? 1 : 0;
    EXPECT_TRUE(text_of(entry) == whole || text_of(entry) == damaged) << i;
    expect_same("first", "again");
  }
  EXPECT_GT(noticed, kBytes / 2);
}

TEST_F(CachedRun, MakesAnEntryOfAnotherProgramAnew) {
  fs::remove_all(cache_);
  traced(words_, "first", environment_);
  ASSERT_EQ(entries().size(), 1U);
  const fs::path entry = entries()[0];
  const std::string whole = text_of(entry);
  traced(words_ + " --set 'sync.internal_latency=100 cycles'", "other", environment_);
  ASSERT_EQ(entries().size(), 2U);
  for (const fs::path& other : entries())
    if (other != entry) fs::rename(other, entry);
  traced(words_, "again", environment_);
  EXPECT_TRUE(text_of(entry) == whole);
  expect_same("first", "again");
}

TEST_F(CachedRun, IsOfItsBuildOnly) {
  fs::remove_all(cache_);
  const fs::path binary = folder_ / "superstep";
  const auto run = [&](const std::string& content) {
    std::ofstream(binary, std::ios::binary) << content;
    fs::permissions(binary, fs::perms::owner_all);
    EXPECT_EQ(superstep("run " + words_ + " -q", environment_, binary).code, 0);
    return entries().size();
  };
  std::string content = text_of(SUPERSTEP_BINARY);
  EXPECT_EQ(run(content), 1U);
  EXPECT_EQ(run(content), 1U) << "the same, written again";
  // The note of a build id (ELF): the sizes of its name and of a SHA-1, its type, its name.
  const std::size_t note = content.find(std::string_view("\4\0\0\0\24\0\0\0\3\0\0\0GNU", 16));
  ASSERT_NE(note, std::string::npos);
  content[note + 16] = static_cast<char>(content[note + 16] ^ 1);
  EXPECT_EQ(run(content), 2U);
  content[note + 8] = 0;
  EXPECT_EQ(run(content), 3U) << "the note is none";
  EXPECT_EQ(run(content + '.'), 4U) << "without one, the whole file counts";
}

TEST_F(CachedRun, DoesWithoutACacheThatCannotBeWritten) {
  std::ofstream(cache_) << "a file where the folder goes";
  traced(words_, "file", environment_);
  traced(words_, "relative", "XDG_CACHE_HOME=relative HOME=" + file("none"));
  EXPECT_FALSE(fs::exists(fs::path(SUPERSTEP_SOURCE_DIR) / "relative"));
  EXPECT_EQ(text_of(cache_), "a file where the folder goes");
}

TEST(ImageCache, DropsWhatWasNotUsedForLongest) {
  const fs::path folder = scratch_folder() / "images";
  fs::remove_all(folder);
  const ProgramImage image =
      compile(import_stablehlo(text_of(fs::path(SUPERSTEP_SOURCE_DIR) / kProgram), kProgram),
              load_machine("tiny4"));
  const ImageCache all(folder);
  const auto use = [&](const char* key, int hours_ago) {
    fs::last_write_time(folder / (std::string(key) + ".h5"),
                        fs::file_time_type::clock::now() - std::chrono::hours(hours_ago));
  };
  for (const char* key : {"a", "b", "c"}) all.keep(key, image);
  EXPECT_EQ(all.find("a")->segments, image.segments);
  EXPECT_FALSE(all.find("d"));
  use("a", 3);
  use("b", 2);
  use("c", 1);
  EXPECT_TRUE(all.find("a"));  // which makes it the last that was used
  const std::uint64_t bytes = fs::file_size(folder / "a.h5");
  ImageCache(folder, 3 * bytes).keep("d", image);
  EXPECT_FALSE(all.find("b"));
  for (const char* key : {"a", "c", "d"}) EXPECT_TRUE(all.find(key)) << key;
}

TEST(ImageCache, FindsWhatWasMadeFromTheKeyAndNotWhatIsCalledSo) {
  const fs::path folder = scratch_folder() / "renamed";
  const ImageCache cache(folder);
  ProgramImage image;
  image.machine = load_machine("tiny4");
  cache.keep("a", image);
  EXPECT_TRUE(cache.find("a"));
  fs::copy_file(folder / "a.h5", folder / "b.h5");
  EXPECT_FALSE(cache.find("b"));
  write_image(folder / "c.h5", image);
  EXPECT_FALSE(cache.find("c"));
}

TEST(ImageCache, KeysDifferWhereTheirTextsDo) {
  EXPECT_EQ(ImageCache::key({"a", "b"}), ImageCache::key({"a", "b"}));
  EXPECT_NE(ImageCache::key({"a", "b"}), ImageCache::key({"ab", ""}));
  EXPECT_NE(ImageCache::key({"a", "b"}), ImageCache::key({"b", "a"}));
}

}  // namespace
}  // namespace superstep
