#include "compiler/image/storage.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "compiler/image/fit.h"
#include "tests/gc200.h"

namespace superstep {
namespace {

/// Memory of one tile: 208 KiB of the executable region, then 416 KiB of the interleaved one.
class StorageOfATile : public ::testing::Test {
 protected:
  StorageOfATile() {
    machine_.name = "one";
    machine_.grid = {1, 1, 1};
  }

  /// A tensor that lives all the time.
  BufferId add(std::string name, std::uint32_t kib, Buffer::Region region = Buffer::Region::kAny) {
    const std::int64_t words = std::int64_t{kib} * 1024U / 4;
    program_.buffers.push_back(
        {.kind = Buffer::Kind::kArgument,
         .name = std::move(name),
         .type = {DType::kF32, {words}},
         .element_bytes = 4,
         .layout = std::make_shared<const Layout>(std::vector<Interval>{{0, words, {TileId{0}}}}),
         .contents = {},
         .source = {},
         .region = region});
    return BufferId{static_cast<std::uint32_t>(program_.buffers.size() - 1)};
  }

  /// One exchange writes to `destination`.
  void receive(BufferId destination) {
    Superstep step;
    step.movements.push_back({{BufferId{0}, TileId{0}, 0}, {{destination, TileId{0}, 0}}, 1});
    program_.main.steps.emplace_back(std::move(step));
  }

  /// Places all with `code` KiB of code before them.
  Storage place(std::uint32_t code) {
    Storage storage(machine_, program_);
    storage.place({code_end(code)});
    return storage;
  }
  [[nodiscard]] std::uint32_t code_end(std::uint32_t code) const {
    return machine_.tile.memory_base + code * 1024U;
  }

  /// The first line of the refusal; empty when all fits.
  std::string refusal(std::uint32_t code) {
    try {
      check_fits(machine_, program_, place(code), {code_end(code)}, {});
    } catch (const DoesNotFit& error) {
      const std::string& text = error.problems()[0].message;
      return text.substr(0, text.find('\n'));
    }
    return {};
  }

  [[nodiscard]] std::uint32_t in_region1(std::uint32_t kib) const {
    return machine_.tile.region1_base + kib * 1024U;
  }

  MachineConfig machine_ = gc200();
  LoweredProgram program_;
};

// The upper half of the 416 KiB begins at the last multiple of 32 KiB, 192.
TEST_F(StorageOfATile, KeepsWhatExchangesWriteApart) {
  const BufferId sent = add("sent", 190), received = add("received", 200);
  receive(received);
  const Storage storage = place(208);
  EXPECT_EQ(storage.address(sent, TileId{0}), in_region1(0));
  EXPECT_EQ(storage.address(received, TileId{0}), in_region1(192));
}

TEST_F(StorageOfATile, KeepsNothingApartWhereThatWouldNotFit) {
  const BufferId sent = add("sent", 196), received = add("received", 200);
  receive(received);
  const Storage storage = place(208);
  EXPECT_EQ(storage.missing_bytes(), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(storage.address(received, TileId{0}), in_region1(0));
  EXPECT_EQ(storage.address(sent, TileId{0}), in_region1(200));
}

TEST_F(StorageOfATile, RefusesMoreThanItsMemoryWithTheDifference) {
  add("a", 400);
  add("b", 200);
  EXPECT_EQ(refusal(24), "");
  EXPECT_EQ(refusal(32),
            "the program does not fit machine one: tile 0 needs 8.0 KiB more than its 624.0 KiB of "
            "memory");
}

TEST_F(StorageOfATile, RefusesAtOnceWhatNoPlacementCanHold) {
  for (int i = 0; i < 100'000; ++i) add("a" + std::to_string(i), 1);
  EXPECT_EQ(refusal(8),
            "the program does not fit machine one: tile 0 needs 99384.0 KiB more than its 624.0 "
            "KiB of memory");
}

TEST_F(StorageOfATile, RefusesCodeBeyondItsRegion) {
  add("a", 4);
  EXPECT_EQ(refusal(210),
            "the program does not fit machine one: tile 0 needs 210.0 KiB for code, its "
            "executable region has 208.0 KiB");
  EXPECT_EQ(refusal(4000),
            "the program does not fit machine one: tile 0 needs 4000.0 KiB for code, its "
            "executable region has 208.0 KiB");
}

TEST_F(StorageOfATile, RefusesWhatHasNoPlaceInOnePiece) {
  add("a", 220, Buffer::Region::kInterleaved);
  add("b", 210, Buffer::Region::kInterleaved);
  EXPECT_EQ(refusal(8),
            "the program does not fit machine one: tile 0 has no place for b, which takes 210.0 "
            "KiB in one piece of its interleaved region: the largest that is free has 196.0 KiB, "
            "although at most 438.0 KiB of its 624.0 KiB are in use at once");
}

}  // namespace
}  // namespace superstep
