#include <string>
#include <string_view>

#include "tests/poplibs/describe.h"

namespace superstep::poplibs {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string vertex_type(std::string_view spelled) {
  std::string type(spelled);
  replace_all(type, "poplar::IeeeHalf", "half");
  replace_all(type, "poplar::quarter", "quarter");
  replace_all(type, "long long int", "long long");
  replace_all(type, "long long unsigned int", "unsigned long long");
  replace_all(type, "short int", "short");
  replace_all(type, "short unsigned int", "unsigned short");
  replace_all(type, ", ", ",");
  return type;
}

std::string vertex_symbol(const std::string& type) {
  std::string symbol = "__runCodelet_";
  for (std::size_t i = 0; i < type.size(); ++i) {
    if (type.compare(i, 2, "::") == 0) {
      symbol += "__";
      ++i;
    } else if (type[i] == '_' || type[i] == '<') {
      symbol += "___";
    } else if (type[i] == ',' || type[i] == ' ') {
      symbol += '_';
    } else if (type[i] != '>') {
      symbol += type[i];
    }
  }
  return symbol;
}

}  // namespace superstep::poplibs
