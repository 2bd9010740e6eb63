/// \file
/// Framing: a stream of bytes, in chunks of any size, becomes lines. Rules: docs/format/rows.md.
///
/// No I/O here; a caller pushes chunks and takes lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace omnigraph::write {

/// Bytes that may be read (their value is undefined) after the end of each line.
inline constexpr size_t kLinePadding = 64;

/// The longest line, counted without its LF.
inline constexpr size_t kMaxLineBytes = 16u << 20;

/// One line that is not blank.
struct Line {
  /// Without LF and without one CR before it, at the first line also without a byte order mark.
  /// Empty when `too_long`. Valid until the next call on the reader, with kLinePadding readable
  /// bytes behind it.
  std::string_view text;
  int64_t number = 0;      ///< from 1, blank lines counted
  bool too_long = false;   ///< the line was dropped while it was read
  bool terminated = true;  ///< false for a last line without LF
};

/// Cuts a byte stream into lines in bounded memory: at most one unfinished line is held.
///
/// The lines and their numbers do not depend on how the stream is cut into chunks. LF ends a line,
/// CR before it is dropped; lines of spaces, tabs and CR are counted and skipped. A byte order mark
/// is dropped at byte 0 of the stream and nowhere else.
///
/// Threads: Thread-compatible.
class LineReader {
 public:
  explicit LineReader(size_t max_line_bytes = kMaxLineBytes) : max_line_bytes_(max_line_bytes) {}

  /// Give the next chunk. REQUIRES: Next() returned false since the last Feed(); not finished.
  /// Owner: `chunk` is borrowed until Next() returns false.
  void Feed(std::string_view chunk);

  /// Say that the stream ends. REQUIRES: as Feed().
  void Finish();

  /// The next line that is complete so far. Cost: O(bytes), lines within one chunk are not copied.
  bool Next(Line* line);

  /// Lines seen so far, blank ones too.
  int64_t lines() const { return lines_; }
  int64_t blank_lines() const { return blank_lines_; }
  /// Bytes held of an unfinished line; bounded by the longest line and a constant.
  size_t held_bytes() const { return carry_.size(); }

 private:
  void SkipByteOrderMark();
  bool TakeCarried(Line* line, bool terminated);
  bool Emit(std::string_view text, bool terminated, Line* line);
  void Carry(std::string_view bytes);

  size_t max_line_bytes_;
  std::string_view chunk_;
  size_t at_ = 0;
  /// Start of a line whose end has not been seen; INVARIANT: at most max_line_bytes_ + 1 bytes.
  std::string carry_;
  bool line_open_ = false;      ///< a line has begun in an earlier chunk
  bool dropping_ = false;       ///< the open line is too long, its bytes are dropped
  bool release_carry_ = false;  ///< the caller has seen the carried line
  bool finished_ = false;
  size_t mark_bytes_ = 0;  ///< bytes of a byte order mark matched so far
  bool mark_done_ = false;
  int64_t lines_ = 0;
  int64_t blank_lines_ = 0;
};

}  // namespace omnigraph::write
