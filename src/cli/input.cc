#include "input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "target.h"

namespace omnigraph::cli {
namespace {

Status OpenError(const std::string& name, int error) {
  const std::string why = std::strerror(error);
  if (error == ENOENT) {
    return NotFound("input.not_found", "there is no file '" + name + "'", Place{.object = name});
  }
  return Invalid("input.unreadable", "cannot read '" + name + "': " + why, Place{.object = name});
}

bool IsStandardInput(const std::string& name) {
  return name.empty() || name == "-";
}

}  // namespace

Input::Input(std::vector<std::string> names) : names_(std::move(names)) {
  if (names_.empty()) {
    names_.emplace_back("-");
  }
}

Input::~Input() {
  if (descriptor_ > STDIN_FILENO) {
    ::close(descriptor_);
  }
}

const std::string& Input::name() const {
  static const std::string standard_input = "<stdin>";
  const std::string& name = names_[next_ == 0 ? 0 : next_ - 1];
  return IsStandardInput(name) ? standard_input : name;
}

Status Input::Check() const {
  for (const std::string& name : names_) {
    if (IsStandardInput(name)) {
      continue;
    }
    struct stat facts = {};
    if (::stat(name.c_str(), &facts) != 0) {
      return OpenError(name, errno);
    }
    if (S_ISDIR(facts.st_mode)) {
      return OpenError(name, EISDIR);
    }
    // Not opened: whoever writes to a pipe would lose what a reader takes, or its reader.
    if (::faccessat(AT_FDCWD, name.c_str(), R_OK, AT_EACCESS) != 0) {
      return OpenError(name, errno);
    }
  }
  return Status::OK();
}

Status Input::OpenNext() {
  const std::string& name = names_[next_++];
  if (IsStandardInput(name)) {
    descriptor_ = STDIN_FILENO;
    return Status::OK();
  }
  // O_NONBLOCK: a FIFO is not to wait for its writer within open(), where nothing could stop it.
  // rule-allow(ban): the user's own input files are not objects of a store.
  descriptor_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return descriptor_ < 0 ? OpenError(name, errno) : Status::OK();
}

/// Wait for something to read, an end, or Ctrl-C.
void Input::WaitForInput() const {
  pollfd waits[2] = {{descriptor_, POLLIN, 0}, {InterruptDescriptor(), POLLIN, 0}};
  (void)::poll(waits, 2, -1);  // what went wrong the read tells
}

Result<size_t> Input::Read(char* data, size_t size) {
  while (true) {
    if (interrupted.load()) {
      return Cancelled("input.interrupted", "interrupted");
    }
    if (descriptor_ < 0) {
      if (next_ == names_.size()) {
        return size_t{0};
      }
      OG_RETURN_NOT_OK(OpenNext());
    }
    WaitForInput();
    if (interrupted.load()) {
      continue;
    }
    const ssize_t got = ::read(descriptor_, data, size);
    if (got > 0) {
      ends_with_newline_ = data[got - 1] == '\n';
      return static_cast<size_t>(got);
    }
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) {
        continue;
      }
      return OpenError(name(), errno);
    }
    if (descriptor_ != STDIN_FILENO) {
      ::close(descriptor_);
    }
    descriptor_ = -1;
    if (!ends_with_newline_ && next_ < names_.size()) {
      ends_with_newline_ = true;
      data[0] = '\n';
      return size_t{1};
    }
  }
}

Result<std::string> ReadTextFile(const std::string& name, size_t limit_bytes) {
  Input input({name});
  std::string text;
  std::string chunk(size_t{64} << 10, '\0');
  while (true) {
    OG_ASSIGN_OR_RETURN(const size_t got, input.Read(chunk.data(), chunk.size()));
    if (got == 0) {
      return text;
    }
    text.append(chunk, 0, got);
    if (text.size() > limit_bytes) {
      return Invalid("input.too_large",
                     "'" + name + "' is larger than " + std::to_string(limit_bytes) + " bytes",
                     Place{.object = name});
    }
  }
}

}  // namespace omnigraph::cli
