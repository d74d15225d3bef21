#include "tools/files.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/error.h"

namespace superstep {

std::string read_text_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    throw MalformedInput(fmt::format("{}: no such file, or it cannot be read", path.string()));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw MalformedInput(fmt::format("{}: cannot be written", path.string()));
}

}  // namespace superstep
