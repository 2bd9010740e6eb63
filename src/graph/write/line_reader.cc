#include "omnigraph/graph/write/line_reader.h"

#include <algorithm>
#include <cstring>

#include "omnigraph/base/status.h"

namespace omnigraph::write {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

void LineReader::Feed(std::string_view chunk) {
  OG_CHECK(!finished_ && at_ == chunk_.size());
  chunk_ = chunk;
  at_ = 0;
}

void LineReader::Finish() {
  OG_CHECK(!finished_ && at_ == chunk_.size());
  chunk_ = {};
  at_ = 0;
  finished_ = true;
  if (!mark_done_ && mark_bytes_ > 0) {
    // The stream ended within what could have become a mark: those bytes are text.
    mark_done_ = true;
    line_open_ = true;
    Carry(kByteOrderMark.substr(0, mark_bytes_));
  }
}

void LineReader::SkipByteOrderMark() {
  while (!mark_done_ && at_ < chunk_.size()) {
    if (chunk_[at_] != kByteOrderMark[mark_bytes_]) {
      mark_done_ = true;
      if (mark_bytes_ > 0) {
        line_open_ = true;
        Carry(kByteOrderMark.substr(0, mark_bytes_));
      }
      return;
    }
    ++at_;
    ++mark_bytes_;
    mark_done_ = mark_bytes_ == kByteOrderMark.size();
  }
}

void LineReader::Carry(std::string_view bytes) {
  if (dropping_) {
    return;
  }
  if (carry_.size() + bytes.size() > max_line_bytes_) {
    dropping_ = true;
    std::string().swap(carry_);
    return;
  }
  const size_t needed = carry_.size() + bytes.size() + kLinePadding;
  if (carry_.capacity() < needed) {
    carry_.reserve(std::max(needed, 2 * carry_.capacity()));
  }
  carry_.append(bytes);
}

bool LineReader::Emit(std::string_view text, bool terminated, Line* line) {
  ++lines_;
  if (terminated && !text.empty() && text.back() == '\r') {
    text.remove_suffix(1);
  }
  if (IsBlank(text)) {
    ++blank_lines_;
    return false;
  }
  *line = Line{text, lines_, false, terminated};
  return true;
}

/// The line that began in an earlier chunk is complete.
bool LineReader::TakeCarried(Line* line, bool terminated) {
  line_open_ = false;
  if (dropping_) {
    dropping_ = false;
    ++lines_;
    *line = Line{{}, lines_, true, terminated};
    return true;
  }
  release_carry_ = true;
  if (carry_.capacity() < carry_.size() + kLinePadding) {
    carry_.reserve(carry_.size() + kLinePadding);
  }
  return Emit(carry_, terminated, line);
}

bool LineReader::Next(Line* line) {
  if (release_carry_) {
    release_carry_ = false;
    carry_.clear();
    // A long line must not hold its memory for ever.
    if (carry_.capacity() > (1u << 20)) {
      std::string().swap(carry_);
    }
  }
  SkipByteOrderMark();
  while (at_ < chunk_.size()) {
    const char* begin = chunk_.data() + at_;
    const size_t left = chunk_.size() - at_;
    const void* found = std::memchr(begin, '\n', left);
    const bool whole = found != nullptr;
    const size_t size = whole ? static_cast<size_t>(static_cast<const char*>(found) - begin) : left;
    at_ += size + (whole ? 1 : 0);
    const std::string_view part(begin, size);
    // A line may be handed out in place when its padding lies in the chunk too.
    const bool in_place =
        whole && !line_open_ && size <= max_line_bytes_ &&
        static_cast<size_t>(chunk_.data() + chunk_.size() - begin) >= size + kLinePadding;
    if (in_place) {
      if (Emit(part, true, line)) {
        return true;
      }
      continue;
    }
    line_open_ = true;
    Carry(part);
    if (whole) {
      if (TakeCarried(line, true)) {
        return true;
      }
      release_carry_ = false;
      carry_.clear();
    }
  }
  if (finished_ && line_open_) {
    if (TakeCarried(line, false)) {
      return true;
    }
    release_carry_ = false;
    carry_.clear();
  }
  return false;
}

}  // namespace omnigraph::write
