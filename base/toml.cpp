#include "base/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace superstep {
namespace {

/// toml++ makes a table of each part of a key and takes them apart by recursion.
constexpr std::size_t kMostKeyDots = 20;

/// Finds the first key, of those outside strings and comments, with more dots than that. A number
/// has a dot as well, so every separator begins to count anew.
class KeyDots {
 public:
  explicit KeyDots(std::string_view text) : text_(text) {}

  /// The offset of the first dot that is too many, or npos.
  std::size_t find() {
    std::size_t dots = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (c == '.' && ++dots > kMostKeyDots) return at_;
      if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
      ++at_;
    }
    return std::string_view::npos;
  }

 private:
  /// Goes behind the string that begins here; one without an end ends with its line.
  void skip_string(char quote) {
    const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
    const bool is_multiline = text_.substr(at_).starts_with(three);
    at_ += is_multiline ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        at_ += 2;
      } else if (is_multiline ? text_.substr(at_).starts_with(three) : text_[at_] == quote) {
        at_ += is_multiline ? 3 : 1;
        // Up to two more quotes belong to a multiline string.
        for (int i = 0; is_multiline && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i)
          ++at_;
        return;
      } else if (!is_multiline && text_[at_] == '\n') {
        return;
      } else {
        ++at_;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

SourceLocation place_of(std::string_view text, std::size_t offset, const std::string& file) {
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {file, line, static_cast<std::uint32_t>(offset - begin) + 1};
}

/// The line that trips an assertion of toml++, which does not tell: of the beginnings of the text
/// that end with a line, those trip it that hold this line.
std::uint32_t malformed_line(std::string_view text, const std::string& file) {
  std::vector<std::size_t> ends;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    ends.push_back(at + 1);
  const auto trips = [&](std::size_t end) {
    try {
      (void)toml::parse(text.substr(0, end), file);
    } catch (const toml::parse_error&) {
    } catch (const std::logic_error&) {
      return true;
    }
    return false;
  };
  const auto line =
      std::ranges::partition_point(ends, [&](std::size_t end) { return !trips(end); });
  return static_cast<std::uint32_t>(line - ends.begin()) + 1;
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& file) {
  if (const std::size_t dot = KeyDots(text).find(); dot != std::string_view::npos) {
    throw MalformedInput(
        {Problem{place_of(text, dot, file),
                 fmt::format("this is no TOML that can be read: more than {} dots in a key",
                             kMostKeyDots)}});
  }
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw MalformedInput(
        {Problem{toml_place(file, error.source()), std::string(error.description())}});
  } catch (const std::logic_error&) {
    throw MalformedInput({Problem{{file, malformed_line(text, file), 0},
                                  "a key or the name of a table is malformed"}});
  }
}

}  // namespace superstep
