#include "toolchain/assembler/sources.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "toolchain/assembler/lexer.h"

namespace superstep::assembler {

namespace {

constexpr int kShownCalls = 4;

/// The end of a string that begins at `at`: after its closing quote, or the end of the line.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') ++at;
  }
  return at;
}

/// Replaces comments by blanks; the place of one that is not closed, or npos.
std::size_t blank_comments(std::string& text) {
  std::size_t at = 0;
  while ((at = text.find_first_of("\"'/#", at)) != std::string::npos) {
    if (text[at] == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (text[at] == '\'') {
      at += std::max<std::size_t>(length_of_character(std::string_view(text).substr(at)), 1);
      continue;
    }
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (text[at] == '#' || (text[at] == '/' && next == '/')) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      if (text[at] == '/' || !begins_line) std::fill(&text[at], text.data() + end, ' ');
      at = end;
    } else if (next == '*') {
      const std::size_t close = text.find("*/", at + 2);
      const std::size_t end = close == std::string::npos ? text.size() : close + 2;
      std::replace_if(
          &text[at], text.data() + end, [](char c) { return c != '\n'; }, ' ');
      if (close == std::string::npos) return at;
      at = end;
    } else {
      ++at;
    }
  }
  return std::string::npos;
}

/// `# 7 "file.h" 2`: where the preprocessor took the next line from.
struct Marker {
  std::uint32_t line = 0;
  std::string_view file;
};

Marker marker_of(std::string_view line) {
  Marker marker;
  if (!line.starts_with("# ")) return marker;
  const char* end = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data() + 2, end, marker.line);
  const std::size_t open = line.find('"');
  const std::size_t close = line.rfind('"');
  if (error != std::errc{} || open == std::string_view::npos || close <= open) return {};
  marker.file = line.substr(open + 1, close - open - 1);
  return marker;
}

}  // namespace

std::uint32_t Sources::add_file(std::string_view text, std::string file,
                                std::vector<Problem>& problems) {
  Buffer& buffer = buffers_.emplace_back();
  buffer.text = text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  buffer.files.push_back(std::move(file));
  const auto index = static_cast<std::uint32_t>(buffers_.size() - 1);
  const std::size_t unclosed = blank_comments(buffer.text);
  list_lines(buffer);
  if (unclosed != std::string::npos) {
    problems.push_back(
        problem({index, static_cast<std::uint32_t>(unclosed)}, "a comment is not closed by `*/`"));
  }
  return index;
}

std::uint32_t Sources::add_expansion(Expansion expansion) {
  static_cast<Expansion&>(buffers_.emplace_back()) = std::move(expansion);
  return static_cast<std::uint32_t>(buffers_.size() - 1);
}

Place Sources::origin(const Buffer& buffer, std::uint32_t offset) const {
  const auto after = std::upper_bound(
      buffer.edits.begin(), buffer.edits.end(), offset,
      [](std::uint32_t at, const Expansion::Edit& edit) { return at < edit.offset; });
  if (after == buffer.edits.begin()) return {buffer.body.buffer, buffer.body.offset + offset};
  const Expansion::Edit& edit = *std::prev(after);
  const std::uint32_t along = edit.is_fixed ? 0 : offset - edit.offset;
  return {buffer.body.buffer, buffer.body.offset + edit.origin + along};
}

void Sources::list_lines(Buffer& buffer) {
  const std::string_view text = buffer.text;
  Line line;
  buffer.lines.push_back(line);
  for (std::size_t end = text.find('\n'); end != std::string_view::npos;
       end = text.find('\n', line.begin)) {
    const Marker marker = marker_of(text.substr(line.begin, end - line.begin));
    if (marker.line != 0) {
      line.number = marker.line;
      line.file = static_cast<std::uint32_t>(buffer.files.size());
      buffer.files.emplace_back(marker.file);
    } else {
      ++line.number;
    }
    line.begin = static_cast<std::uint32_t>(end + 1);
    buffer.lines.push_back(line);
  }
}

SourceLocation Sources::locate(Place place) const {
  while (buffers_[place.buffer].files.empty()) place = origin(buffers_[place.buffer], place.offset);
  const Buffer& buffer = buffers_[place.buffer];
  const Line& line =
      *std::prev(std::ranges::upper_bound(buffer.lines, place.offset, {}, &Line::begin));
  return {buffer.files[line.file], line.number, place.offset - line.begin + 1};
}

Place Sources::outermost(Place place) const {
  while (buffers_[place.buffer].files.empty()) place = buffers_[place.buffer].called_from;
  return place;
}

Problem Sources::problem(Place place, std::string message) const {
  const SourceLocation where = locate(place);
  int calls = 0;
  for (const Buffer* buffer = &buffers_[place.buffer]; buffer->files.empty();
       buffer = &buffers_[buffer->called_from.buffer]) {
    if (++calls > kShownCalls) {
      message += ", …";
      break;
    }
    message += (calls == 1 ? "; expanded from " : ", from ") + locate(buffer->called_from).text();
  }
  return {where, std::move(message)};
}

}  // namespace superstep::assembler
