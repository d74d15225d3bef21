#include "report/text_table.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace superstep {
namespace {

constexpr std::size_t kDefaultColumns = 80;
constexpr std::size_t kFewestColumns = 20;

}  // namespace

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

std::vector<std::string> TextTable::lines() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], display_width(row[c]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool is_left = columns_[c] == Align::kLeft;
      line += c == 0 || widths[c] == 0 ? "" : "  ";
      const std::string blanks(widths[c] - display_width(row[c]), ' ');
      line += is_left ? row[c] + blanks : blanks + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::size_t TextTable::width() const {
  std::size_t widest = 0;
  for (const std::string& line : lines()) widest = std::max(widest, display_width(line));
  return widest;
}

std::string TextTable::text() const {
  std::string out;
  for (const std::string& line : lines()) out += line + "\n";
  return out;
}

std::string wrapped(const std::vector<std::string>& words, std::size_t indent,
                    std::size_t columns) {
  const std::string begin(indent, ' ');
  std::string out, line;
  for (const std::string& word : words) {
    if (!line.empty() && line.size() + 2 + word.size() > columns) {
      out += line + "\n";
      line.clear();
    }
    line += (line.empty() ? begin : "  ") + word;
  }
  return line.empty() ? out : out + line + "\n";
}

std::string filled(const std::string& text, std::size_t indent, std::size_t columns) {
  std::string out, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > columns) {
      out += line + "\n";
      line.assign(indent, ' ');
    } else if (!line.empty()) {
      line += ' ';
    }
    line += word;
  }
  return out + line + "\n";
}

}  // namespace superstep
