/// \file
/// The user's input: files and standard input, read in chunks. One of the two places in the program
/// that touch files (the other is the local store).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/write/load.h"

namespace omnigraph::cli {

/// The bytes of several files, one after the other; `-` or no name is standard input. A file that
/// does not end with a line end gets one, so that files never run into each other. Single-owner.
class Input : public write::ByteSource {
 public:
  explicit Input(std::vector<std::string> names);
  ~Input() override;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Errors: kNotFound (`input.not_found`), kInvalid (`input.unreadable`), kCancelled
  /// (`input.interrupted`: Ctrl-C).
  Result<size_t> Read(char* data, size_t size) override;

  /// Check that every named file is there and may be read, before any work begins. Takes nothing
  /// from it: it may be a pipe. Errors: as Read().
  Status Check() const;

  /// Name for messages: the file's, or `<stdin>`.
  const std::string& name() const;

 private:
  Status OpenNext();
  void WaitForInput() const;

  std::vector<std::string> names_;
  size_t next_ = 0;
  int descriptor_ = -1;
  bool ends_with_newline_ = true;
};

/// The whole text of a small file. Errors: as Input::Read; kInvalid (`input.too_large`) above
/// `limit_bytes`.
Result<std::string> ReadTextFile(const std::string& name, size_t limit_bytes);

}  // namespace omnigraph::cli
