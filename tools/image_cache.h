#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program_image.h"

namespace superstep {

/// Compiled programs that are kept from run to run: a folder of images, by key. Where the folder
/// cannot be read or written nothing is found and nothing kept.
class ImageCache {
 public:
  /// Keeps nothing.
  ImageCache() = default;
  /// Once the files take more than `most_bytes`, those that were not used for longest go.
  explicit ImageCache(std::filesystem::path folder,
                      std::uint64_t most_bytes = std::uint64_t{2} << 30)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// That of the user: `$XDG_CACHE_HOME/superstep/images`, else `~/.cache/superstep/images`; one
  /// that keeps nothing where neither is known.
  [[nodiscard]] static ImageCache of_user();

  /// The key of what is compiled from these texts by this very program, in the current folder,
  /// which decides how files of Python are called.
  [[nodiscard]] static std::string key(const std::vector<std::string_view>& texts);

  [[nodiscard]] bool is_on() const { return !folder_.empty(); }
  [[nodiscard]] std::optional<ProgramImage> find(const std::string& key) const;
  void keep(const std::string& key, const ProgramImage& image) const;

 private:
  void shrink() const;

  std::filesystem::path folder_;
  std::uint64_t most_bytes_ = 0;
};

}  // namespace superstep
