// Listings of a page that name a file of the tree are parts of that file.

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "base/files.h"

namespace superstep {
namespace {

std::string content(const std::string& path) {
  return read_text_file(std::filesystem::path(SUPERSTEP_SOURCE_DIR) / path);
}

TEST(Listings, OfThePageOnAddingAnOpAreInTheTree) {
  const std::string page = content("docs/adding-an-op.md");
  const std::regex fence("```cpp (\\S+)\n");
  int listings = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), fence), end; at != end; ++at) {
    const auto begin = static_cast<std::size_t>(at->position() + at->length());
    const std::string listing = page.substr(begin, page.find("```\n", begin) - begin);
    EXPECT_NE(content((*at)[1]).find(listing), std::string::npos) << (*at)[1] << ":\n" << listing;
    ++listings;
  }
  EXPECT_GT(listings, 5);
}

}  // namespace
}  // namespace superstep
