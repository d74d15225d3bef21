#include "toolchain/assembler/preprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "isa/machine_limits.h"

extern char** environ;

namespace superstep {

namespace {

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw HostLimit(std::string("no pipe to the preprocessor: ") + std::strerror(errno));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

struct Child {
  int status = 0;
  std::string out;
  std::string err;
};

/// Reads both pipes to their ends.
void read_all(Pipe& out, Pipe& err, Child& child) {
  std::array<pollfd, 2> ends = {{{out.reader(), POLLIN, 0}, {err.reader(), POLLIN, 0}}};
  std::array<std::string*, 2> texts = {&child.out, &child.err};
  std::array<char, 65536> buffer;
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      const ssize_t size = read(ends[i].fd, buffer.data(), buffer.size());
      if (size > 0) texts[i]->append(buffer.data(), static_cast<std::size_t>(size));
      if (size == 0 || (size < 0 && errno != EINTR)) ends[i].fd = -1;
    }
  }
}

Child run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Pipe out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.writer(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.writer(), 2);
  // Signals that we wait for in a thread of ours, or ignore, are its own.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int failure =
      posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure == EAGAIN || failure == ENOMEM || failure == EMFILE || failure == ENFILE) {
    throw HostLimit(std::string("no process for the preprocessor: ") + std::strerror(failure));
  }
  if (failure != 0) {
    throw MalformedInput("assembly needs the C preprocessor `" + words[0] +
                         "`, which does not start (" + std::strerror(failure) +
                         "); it comes with GCC (package `cpp`)");
  }
  out.close_end(1);
  err.close_end(1);
  Child child;
  read_all(out, err, child);
  while (waitpid(process, &child.status, 0) < 0 && errno == EINTR) {
  }
  return child;
}

/// Takes `:NUMBER` off the end of a text; 0 when none is there.
std::uint32_t take_number(std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::uint32_t number = 0;
  if (colon == std::string::npos) return 0;
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc{} || after != end) return 0;
  text.resize(colon);
  return number;
}

/// `file:line:column: error: message`, the column perhaps left out, or any other line as a message.
Problem problem_of(const std::string& line) {
  Problem problem{{}, line};
  for (const std::string kind : {": fatal error: ", ": error: "}) {
    const std::size_t end = line.find(kind);
    if (end == std::string::npos) continue;
    std::string place = line.substr(0, end);
    const std::uint32_t last = take_number(place), before = take_number(place);
    if (last == 0) break;
    problem.message = line.substr(end + kind.size());
    problem.where = {place, before == 0 ? last : before, before == 0 ? 0 : last};
    break;
  }
  return problem;
}

std::vector<Problem> problems_of(const std::string& text) {
  std::vector<Problem> located, others;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    Problem problem = problem_of(text.substr(begin, end - begin));
    (problem.where.file.empty() ? others : located).push_back(std::move(problem));
    begin = end + 1;
  }
  return located.empty() ? others : located;
}

/// `name_ ## \PARAMETER` cannot be pasted. GCC's preprocessor then keeps a blank that stands before
/// the parameter in the call, Clang's does not, and sources are written for Clang's.
void join_failed_pastes(std::string& text) {
  for (std::size_t at = 0; (at = text.find("_ \\", at)) != std::string::npos; ++at) {
    text.erase(at + 1, 1);
  }
}

}  // namespace

std::vector<std::string> machine_defines(const MachineConfig& machine) {
  const MachineConfig::Tile& tile = machine.tile;
  const std::uint32_t workers = limits_of(machine.isa.encoding).workers;
  return {fmt::format("SUPERSTEP_WORKERS={}", tile.workers),
          fmt::format("SUPERSTEP_WORKER_MASK={}", workers - 1),
          fmt::format("SUPERSTEP_MEMORY_BASE={:#x}", tile.memory_base),
          fmt::format("SUPERSTEP_REGION1_BASE={:#x}", tile.region1_base),
          fmt::format("SUPERSTEP_ELEMENT_BYTES={:#x}", tile.element_bytes)};
}

std::string sdk_headers() {
  // A program in the folder of its build takes them from the sources, any other from where
  // `cmake --install` puts them.
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (program.string().starts_with(SUPERSTEP_BUILD_FOLDER "/")) return SUPERSTEP_SDK_HEADERS;
  return (program.parent_path().parent_path() / "include" / "superstep").string();
}

std::string preprocess(const std::string& path, const PreprocessOptions& options) {
  // No system headers and no names of the host: the file is for another machine. `$` is no part of
  // a name, so that a register's number can come from a macro.
  std::vector<std::string> words = {"cpp",
                                    "-x",
                                    "assembler-with-cpp",
                                    "-undef",
                                    "-nostdinc",
                                    "-fno-dollars-in-identifiers",
                                    "-D__IPU__=1",
                                    "-D__IPU_ARCH_VERSION__=2"};
  for (const std::string& define : options.defines) {
    words.push_back("-U" + define.substr(0, define.find('=')));
    words.push_back("-D" + define);
  }
  for (const std::string& folder : options.include_folders) words.push_back("-I" + folder);
  words.push_back("-I" + sdk_headers());
  words.push_back(path.starts_with('-') ? "./" + path : path);
  if (access(path.c_str(), R_OK) != 0) throw InputOutputError(path, "cannot be read", errno);
  Child child = run(std::move(words));
  if (!WIFEXITED(child.status) || WEXITSTATUS(child.status) != 0) {
    std::vector<Problem> problems = problems_of(child.err);
    if (problems.empty()) problems.push_back({{path}, "the C preprocessor `cpp` fails"});
    throw MalformedInput(std::move(problems));
  }
  join_failed_pastes(child.out);
  return std::move(child.out);
}

std::vector<std::string> preprocessed_files(std::string_view text) {
  // `# LINE "FILE" FLAGS`, where quotes and backslashes of a name are escaped.
  std::set<std::string> files;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t quote = line.find('"');
    if (!line.starts_with("# ") || quote == std::string_view::npos) continue;
    std::string file;
    for (std::size_t i = quote + 1; i < line.size() && line[i] != '"'; ++i) {
      if (line[i] == '\\' && i + 1 < line.size()) ++i;
      file += line[i];
    }
    if (!file.empty() && file[0] != '<') files.insert(file);
  }
  return {files.begin(), files.end()};
}

}  // namespace superstep
