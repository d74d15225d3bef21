#include "report/text_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/text.h"

namespace superstep {
namespace {

constexpr std::size_t kDefaultColumns = 80;
constexpr std::size_t kFewestColumns = 20;
/// Names are not cut to less.
constexpr std::size_t kLeastText = 12;

std::size_t line_width(const std::vector<std::size_t>& widths) {
  std::size_t width = 0;
  for (std::size_t c = 0; c < widths.size(); ++c)
    width += widths[c] + (c == 0 || widths[c] == 0 ? 0 : kBetweenColumns);
  return width;
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    const bool goes_on = (static_cast<unsigned char>(c) & 0xC0) == 0x80 && !characters.empty();
    if (!goes_on) characters.emplace_back();
    characters.back() += c;
  }
  return characters;
}

/// Lines of words, each of which goes on in the next line where it is longer than one.
class Lines {
 public:
  /// `begin`: columns of the first line that are taken; `indent`: blanks in front of the others.
  Lines(std::size_t begin, std::size_t indent, std::size_t columns)
      : indent_(indent), columns_(columns), width_(begin) {}

  /// `between`: blanks in front of the word, unless it begins a line.
  void add(std::string_view word, std::size_t between = 1) {
    const std::vector<std::string> characters = characters_of(word);
    if (has_words_ && width_ + between + characters.size() > columns_) {
      begin_line();
    } else if (has_words_) {
      text_ += std::string(between, ' ');
      width_ += between;
    }
    for (const std::string& character : characters) {
      if (has_words_ && width_ >= columns_) begin_line();
      text_ += character;
      ++width_;
      has_words_ = true;
    }
  }
  /// Lets the next word begin a line.
  void end_line() {
    if (has_words_) begin_line();
  }
  [[nodiscard]] bool has_words() const { return has_words_; }
  [[nodiscard]] std::string text() const { return text_ + "\n"; }

 private:
  void begin_line() {
    text_ += "\n" + std::string(indent_, ' ');
    width_ = indent_;
    has_words_ = false;
  }

  std::size_t indent_, columns_;
  std::string text_;
  std::size_t width_;
  bool has_words_ = false;  ///< the last line
};

}  // namespace

std::string without_middle(const std::string& text, std::size_t most) {
  if (display_width(text) <= most) return text;
  const std::vector<std::string> characters = characters_of(text);
  constexpr std::string_view kLeftOut = "..";
  const std::size_t tail = (most - kLeftOut.size()) / 2, head = most - kLeftOut.size() - tail;
  std::string out;
  for (std::size_t i = 0; i < head; ++i) out += characters[i];
  out += kLeftOut;
  for (std::size_t i = characters.size() - tail; i < characters.size(); ++i) out += characters[i];
  return out;
}

std::size_t output_columns() {
  if (const char* variable = std::getenv("COLUMNS")) {
    const std::string_view text(variable);
    std::size_t columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error == std::errc() && end == text.data() + text.size() && columns >= kFewestColumns) {
      return columns;
    }
  }
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < kFewestColumns) {
    return kDefaultColumns;
  }
  return size.ws_col;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c]));
  }
  return widths;
}

void TextTable::fit(std::size_t columns) {
  const std::vector<std::size_t> before = widths();
  std::vector<std::size_t> after = before;
  const auto is_long = [&](std::size_t c) {
    return columns_[c] == Align::kLeft && after[c] > kLeastText;
  };
  while (line_width(after) > columns) {
    std::optional<std::size_t> longest;
    for (std::size_t c = 0; c < after.size(); ++c)
      if (is_long(c) && (!longest || after[c] > after[*longest])) longest = c;
    if (!longest) break;
    --after[*longest];
  }
  for (auto& row : rows_)
    for (std::size_t c = 0; c < row.size(); ++c)
      if (after[c] < before[c]) row[c] = without_middle(row[c], after[c]);
}

std::vector<std::string> TextTable::lines() const {
  const std::vector<std::size_t> widths = this->widths();
  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool is_left = columns_[c] == Align::kLeft;
      line += std::string(c == 0 || widths[c] == 0 ? 0 : kBetweenColumns, ' ');
      const std::string blanks(widths[c] - display_width(row[c]), ' ');
      line += is_left ? row[c] + blanks : blanks + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::size_t TextTable::width() const { return line_width(widths()); }

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
    } else {
      out += c;
    }
  }
  return out;
}

std::string TextTable::text() const {
  std::string out;
  for (const std::string& line : lines()) out += line + "\n";
  return out;
}

std::string wrapped(const std::vector<std::string>& words, std::size_t indent,
                    std::size_t columns) {
  constexpr std::size_t kBetween = 2;
  Lines lines(indent, indent, columns);
  for (const std::string& text : words) {
    if (indent + display_width(text) <= columns) {
      lines.add(text, kBetween);
      continue;
    }
    lines.end_line();
    std::istringstream parts(text);
    for (std::string word; parts >> word;) lines.add(word);
  }
  return lines.has_words() ? std::string(indent, ' ') + lines.text() : std::string();
}

std::string filled(const std::string& text, std::size_t indent, std::size_t columns,
                   std::size_t begin) {
  Lines lines(begin, indent, columns);
  std::istringstream words(text);
  for (std::string word; words >> word;) lines.add(word);
  return lines.text();
}

}  // namespace superstep
