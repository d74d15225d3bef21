#include "report/page/page.h"

#include <fmt/format.h>

#include <string_view>

#include "base/sha256.h"
#include "report/json_text.h"
#include "report/page/encoding.h"
#include "report/page/page_sources.h"

namespace superstep {
namespace {

/// A source of a content security policy that allows what is between two tags.
std::string hash_source(std::string_view text) {
  const std::string digits = sha256(text);
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return fmt::format("'sha256-{}'", base64(bytes));
}

/// JSON that no parser of HTML sees a tag, a comment or an entity in.
std::string inert(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string page_html(const std::vector<nlohmann::ordered_json>& documents,
                      std::optional<std::chrono::seconds> again) {
  const PageSources sources = page_sources();
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data: blob:; base-uri 'none'; "
      "form-action 'none'",
      hash_source(sources.script), hash_source(sources.style));
  // With a script it is the script that reads again, and keeps what is chosen.
  const std::string attribute = again ? fmt::format(" data-again=\"{}\"", again->count()) : "";
  const std::string refresh =
      again ? fmt::format("<noscript><meta http-equiv=\"refresh\" content=\"{}\"></noscript>\n",
                          again->count())
            : "";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"{}>\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{}"
      "<title>Superstep report</title>\n<style>{}</style>\n</head>\n<body>\n{}\n"
      "<script type=\"application/json\" id=\"documents\">{}</script>\n<script>{}</script>\n"
      "</body>\n</html>\n",
      attribute, policy, refresh, sources.style, sources.body, inert(json_text(documents)),
      sources.script);
}

}  // namespace superstep
