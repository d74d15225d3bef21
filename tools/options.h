#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace superstep {

/// The options of one subcommand: parsing by Boost, help and errors ours.
class Options {
 public:
  /// `usage` is the line after `superstep`; `examples` are whole command lines.
  Options(std::string usage, std::string summary, std::vector<std::string> examples);

  Options& flag(const char* name, const char* help);
  Options& value(const char* name, const char* placeholder, const char* help);
  Options& values(const char* name, const char* placeholder, const char* help);
  /// Words without a dash: `least` to `most` of them.
  Options& positionals(std::size_t least, std::size_t most);

  /// False when help was asked for. Throws UserError (usage) for a wrong word.
  [[nodiscard]] bool parse(const std::vector<std::string>& words);

  [[nodiscard]] bool has(const std::string& name) const { return map_.count(name) != 0; }
  [[nodiscard]] std::optional<std::string> get(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> list(const std::string& name) const;
  /// A whole number from `low` to `high`, or `otherwise` when the option is absent.
  [[nodiscard]] std::uint32_t number(const std::string& name, std::uint32_t low, std::uint32_t high,
                                     std::uint32_t otherwise) const;
  /// The same of one that 32 bits may not hold.
  [[nodiscard]] std::uint64_t long_number(const std::string& name, std::uint64_t low,
                                          std::uint64_t high, std::uint64_t otherwise) const;
  [[nodiscard]] const std::vector<std::string>& words() const { return positional_; }
  /// What was given to `parse`, as one line.
  [[nodiscard]] const std::string& command_line() const { return command_line_; }
  [[nodiscard]] std::string help() const;

 private:
  struct Entry {
    std::string name, placeholder, help;
  };
  std::string usage_, summary_, command_line_;
  std::vector<std::string> examples_;
  std::vector<Entry> entries_;
  std::size_t least_ = 0, most_ = 0;
  boost::program_options::options_description description_;
  boost::program_options::variables_map map_;
  std::vector<std::string> positional_;
};

/// A wrong command line.
[[noreturn]] void usage_error(const std::string& message);

}  // namespace superstep
