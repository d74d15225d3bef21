#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace superstep::assembler {

/// A character of a buffer of `Sources`.
struct Place {
  std::uint32_t buffer = 0;
  std::uint32_t offset = 0;
};

/// What `Sources` keeps of text that a macro or a repetition made out of another buffer's text.
struct Expansion {
  /// From `offset` of the made text on it is that from `origin` on, or what stands for it.
  struct Edit {
    std::uint32_t offset = 0;
    std::uint32_t origin = 0;
    bool is_fixed = false;  ///< all of it stands for the one place
  };

  std::string text;
  std::vector<Edit> edits;
  Place body;         ///< where the text that was expanded begins
  Place called_from;  ///< the statement that asked for it
};

/// The texts of one assembly: its file and what macros made. They stay where they are, so that
/// views of them can be kept.
class Sources {
 public:
  /// Comments become blanks. Lines `# 7 "file.h"`, as the preprocessor leaves them, name the origin
  /// of the line after them.
  std::uint32_t add_file(std::string_view text, std::string file, std::vector<Problem>& problems);
  std::uint32_t add_expansion(Expansion expansion);

  [[nodiscard]] std::string_view text(std::uint32_t buffer) const { return buffers_[buffer].text; }

  /// Of text that was made, where the text that it was made from is: in a macro's body.
  [[nodiscard]] SourceLocation locate(Place place) const;
  /// A problem at a place: in a macro's body, with the calls that led there.
  [[nodiscard]] Problem problem(Place place, std::string message) const;
  /// The statement of the file that a place belongs to: itself, or the call that led there.
  [[nodiscard]] Place outermost(Place place) const;

 private:
  /// A line of a file as it was before the preprocessor.
  struct Line {
    std::uint32_t begin = 0;   ///< in the buffer
    std::uint32_t number = 1;  ///< in its file
    std::uint32_t file = 0;    ///< index
  };
  struct Buffer : Expansion {
    std::vector<std::string> files;  ///< that lines are of; none for an expansion
    std::vector<Line> lines;
  };

  static void list_lines(Buffer& buffer);
  [[nodiscard]] Place origin(const Buffer& buffer, std::uint32_t offset) const;

  std::deque<Buffer> buffers_;
};

}  // namespace superstep::assembler
