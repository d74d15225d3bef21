#include "base/shared_names.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"

namespace superstep {
namespace {

using Paths = std::vector<std::filesystem::path>;

/// Does that in a copy of this process, which then ends.
template <class Body>
void in_copy(const Body& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
}

TEST(SharedNames, OfACopyAreThereWhenItHasEnded) {
  SharedNames names;
  names.add("/before");
  in_copy([&] {
    names.add("/first");
    names.add("/second");
    names.erase("/before");
    names.erase("/first");
  });
  EXPECT_EQ(names.all(), Paths{"/second"});
}

TEST(SharedNames, AreRefusedWhereTheyAreTooManyOrTooLong) {
  SharedNames names;
  for (std::size_t i = 0; i < SharedNames::kMost; ++i) names.add("/" + std::to_string(i));
  EXPECT_THROW(names.add("/more"), InputOutputError);
  names.erase("/3");
  EXPECT_THROW(names.add(std::string(PATH_MAX, 'x')), InputOutputError);
  names.add("/more");
  EXPECT_EQ(names.all().size(), SharedNames::kMost);
  EXPECT_EQ(std::ranges::count(names.all(), "/more"), 1);
}

}  // namespace
}  // namespace superstep
