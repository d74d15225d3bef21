#include "tools/image_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "base/sha256.h"
#include "isa/image_file.h"
#include "tools/own_binary.h"

namespace superstep {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const char* variable) {
  const char* text = std::getenv(variable);
  const fs::path folder = text == nullptr ? "" : text;
  // The XDG base directory specification: a relative path is to be ignored.
  return folder.is_absolute() ? folder : fs::path();
}

}  // namespace

ImageCache ImageCache::of_user() {
  fs::path folder = folder_of("XDG_CACHE_HOME");
  if (folder.empty() && !folder_of("HOME").empty()) folder = folder_of("HOME") / ".cache";
  return folder.empty() ? ImageCache() : ImageCache(folder / "superstep" / "images");
}

std::string ImageCache::key(const std::vector<std::string_view>& texts) {
  static const std::string program = hash_of_own_binary();
  std::error_code none;
  const std::string here = fs::current_path(none).string();
  Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.add(fmt::format("{}:", text.size()));
    hash.add(text);
  };
  add(program);
  add(here);
  for (const std::string_view text : texts) add(text);
  return hash.digest();
}

std::optional<ProgramImage> ImageCache::find(const std::string& key) const {
  if (!is_on()) return std::nullopt;
  const fs::path path = folder_ / (key + ".h5");
  std::error_code none;
  if (!fs::exists(path, none)) return std::nullopt;
  try {
    // By what it says, whatever its name has become.
    std::optional<ProgramImage> image = read_image_made_from(path, key);
    if (image) fs::last_write_time(path, fs::file_time_type::clock::now(), none);
    return image;
  } catch (const std::exception&) {
    // It will be made anew.
    return std::nullopt;
  }
}

void ImageCache::keep(const std::string& key, const ProgramImage& image) const {
  if (!is_on()) return;
  try {
    fs::create_directories(folder_);
    write_image(folder_ / (key + ".h5"), image, key);
    shrink();
  } catch (const std::exception&) {
    // A run does without.
  }
}

void ImageCache::shrink() const {
  struct Entry {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    if (!entry.is_regular_file()) continue;
    entries.push_back({entry.last_write_time(), entry.file_size(), entry.path()});
    bytes += entries.back().bytes;
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (auto oldest = entries.begin(); bytes > most_bytes_; ++oldest) {
    fs::remove(oldest->path);
    bytes -= oldest->bytes;
  }
}

}  // namespace superstep
