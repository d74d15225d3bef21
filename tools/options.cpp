#include "tools/options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace superstep {
namespace po = boost::program_options;

void usage_error(const std::string& message) { throw UserError(ExitCode::kUsage, message); }

Options::Options(std::string usage, std::string summary, std::vector<std::string> examples)
    : usage_(std::move(usage)), summary_(std::move(summary)), examples_(std::move(examples)) {
  flag("help,h", "show this text");
  flag("json", "answer with one JSON document, also when something fails (docs/report.md)");
}

Options& Options::flag(const char* name, const char* help) {
  entries_.push_back({name, "", help});
  description_.add_options()(name, help);
  return *this;
}

Options& Options::value(const char* name, const char* placeholder, const char* help) {
  entries_.push_back({name, placeholder, help});
  description_.add_options()(name, po::value<std::string>(), help);
  return *this;
}

Options& Options::values(const char* name, const char* placeholder, const char* help) {
  entries_.push_back({name, placeholder, help});
  description_.add_options()(name, po::value<std::vector<std::string>>()->composing(), help);
  return *this;
}

Options& Options::positionals(std::size_t least, std::size_t most) {
  least_ = least;
  most_ = most;
  return *this;
}

bool Options::parse(const std::vector<std::string>& words) {
  command_line_ = "superstep " + usage_.substr(0, usage_.find(' '));
  for (const std::string& word : words) command_line_ += " " + word;
  po::options_description all = description_;
  all.add_options()("positional", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("positional", -1);
  using namespace po::command_line_style;
  try {
    po::store(po::command_line_parser(words)
                  .options(all)
                  .positional(positional)
                  .style(default_style & ~allow_guessing)
                  .run(),
              map_);
  } catch (const po::unknown_option& error) {
    std::vector<std::string> known;
    for (const Entry& entry : entries_)
      known.push_back("--" + entry.name.substr(0, entry.name.find(',')));
    const std::string guess = nearest(error.get_option_name(), known);
    usage_error(
        fmt::format("unknown option '{}'; {}", error.get_option_name(),
                    guess.empty() ? "--help lists the options" : "did you mean '" + guess + "'?"));
  } catch (const po::error& error) {
    usage_error(fmt::format("{}; --help lists the options", error.what()));
  }
  if (has("help")) return false;
  positional_ = list("positional");
  if (positional_.size() < least_)
    usage_error(fmt::format("an argument is missing\nusage: superstep {}", usage_));
  if (positional_.size() > most_)
    usage_error(
        fmt::format("unexpected word '{}'\nusage: superstep {}", positional_[most_], usage_));
  return true;
}

std::optional<std::string> Options::get(const std::string& name) const {
  if (!has(name)) return {};
  return map_[name].as<std::string>();
}

std::vector<std::string> Options::list(const std::string& name) const {
  return has(name) ? map_[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::uint32_t Options::number(const std::string& name, std::uint32_t low, std::uint32_t high,
                              std::uint32_t otherwise) const {
  return static_cast<std::uint32_t>(long_number(name, low, high, otherwise));
}

std::uint64_t Options::long_number(const std::string& name, std::uint64_t low, std::uint64_t high,
                                   std::uint64_t otherwise) const {
  const auto text = get(name);
  if (!text) return otherwise;
  std::uint64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc{} || rest != end || value < low || value > high)
    usage_error(
        fmt::format("--{} takes a whole number from {} to {}, found '{}'", name, low, high, *text));
  return value;
}

std::string Options::help() const {
  std::string text = fmt::format("{}\n\nusage: superstep {}\n\nexamples\n", summary_, usage_);
  for (const std::string& example : examples_) text += fmt::format("  {}\n", example);
  text += "\noptions\n";
  for (const Entry& entry : entries_) {
    const std::size_t comma = entry.name.find(',');
    std::string left = fmt::format("--{}", entry.name.substr(0, comma));
    if (comma != std::string::npos)
      left = fmt::format("-{}, {}", entry.name.substr(comma + 1), left);
    if (!entry.placeholder.empty()) left += " " + entry.placeholder;
    text += fmt::format("  {:<28} {}\n", left, entry.help);
  }
  return text;
}

}  // namespace superstep
