// Framing: where lines begin and end does not depend on chunks, marks, line ends or memory.
#include "omnigraph/graph/write/line_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace omnigraph::write {
namespace {

struct Seen {
  std::vector<std::string> lines;
  int64_t total = 0;
  int64_t blank = 0;
  size_t most_held = 0;
  bool operator==(const Seen& other) const {
    return lines == other.lines && total == other.total && blank == other.blank;
  }
};

Seen ReadInChunks(std::string_view text, size_t chunk, size_t max_line = kMaxLineBytes) {
  LineReader reader(max_line);
  Seen seen;
  Line line;
  const auto drain = [&] {
    while (reader.Next(&line)) {
      std::string shown = std::to_string(line.number) + (line.terminated ? " " : "! ") +
                          (line.too_long ? "<too long>" : std::string(line.text));
      // The padding may be read.
      if (!line.too_long) {
        volatile char last = line.text.data()[line.text.size() + kLinePadding - 1];
        static_cast<void>(last);
      }
      seen.lines.push_back(std::move(shown));
    }
    seen.most_held = std::max(seen.most_held, reader.held_bytes());
  };
  for (size_t at = 0; at < text.size(); at += chunk) {
    const std::string piece(text.substr(at, chunk));
    reader.Feed(piece);
    drain();
  }
  reader.Finish();
  drain();
  seen.total = reader.lines();
  seen.blank = reader.blank_lines();
  return seen;
}

using Lines = std::vector<std::string>;

TEST(LineReader, CutsAtLfAndDropsOneCr) {
  const Seen seen = ReadInChunks("a\nb\r\n\r\n \t\nc\r\r\n\n\rd", 1000);
  EXPECT_EQ(seen.lines, (Lines{"1 a", "2 b", "5 c\r", "7! \rd"}));
  EXPECT_EQ(seen.total, 7);
  EXPECT_EQ(seen.blank, 3);
}

// B11: empty input, and input of line ends and spaces only.
TEST(LineReader, EmptyInputHasNoLines) {
  EXPECT_EQ(ReadInChunks("", 1).total, 0);
  EXPECT_EQ(ReadInChunks("\xef\xbb\xbf", 1).total, 0);
  const Seen blank = ReadInChunks("\n\r\n   \n\t", 1);
  EXPECT_TRUE(blank.lines.empty());
  EXPECT_EQ(blank.total, 4);
  EXPECT_EQ(blank.blank, 4);
}

// B03: only byte 0 of the stream is tested for a mark.
TEST(LineReader, DropsAByteOrderMarkOnlyAtTheStart) {
  for (size_t chunk = 1; chunk < 16; ++chunk) {
    EXPECT_EQ(ReadInChunks("\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n", chunk).lines,
              (Lines{"1 {}", "2 \xef\xbb\xbf{}"}));
    EXPECT_EQ(ReadInChunks("\n\xef\xbb\xbf{}", chunk).lines, (Lines{"2! \xef\xbb\xbf{}"}));
    EXPECT_EQ(ReadInChunks("\xef\xbb\xbf\xef\xbb\xbf{}", chunk).lines,
              (Lines{"1! \xef\xbb\xbf{}"}));
    EXPECT_EQ(ReadInChunks("\xef\xbbX\n", chunk).lines, (Lines{"1 \xef\xbbX"}));
    EXPECT_EQ(ReadInChunks("\xef\xbb", chunk).lines, (Lines{"1! \xef\xbb"}));
    EXPECT_EQ(ReadInChunks("\xef", chunk).lines, (Lines{"1! \xef"}));
    EXPECT_EQ(ReadInChunks("\xef\n\xef", chunk).lines, (Lines{"1 \xef", "2! \xef"}));
  }
}

std::string RandomText(size_t size, uint32_t seed) {
  static const std::vector<std::string> kPieces = {"a",  "bc",           "\n",  "\r\n", "\r",  " ",
                                                   "\t", "\xef\xbb\xbf", "\"x", "\n\n", "long"};
  std::mt19937 random(seed);
  std::string text = seed % 2 == 0 ? "\xef\xbb\xbf" : "";
  while (text.size() < size) {
    const size_t repeat = random() % 20 == 0 ? 200 : 1;
    for (size_t i = 0; i < repeat; ++i) {
      text += kPieces[random() % (repeat > 1 ? 2 : kPieces.size())];
    }
  }
  return text;
}

TEST(LineReader, ChunksNeverChangeAResult) {
  for (uint32_t seed = 0; seed < 2; ++seed) {
    const std::string text = RandomText(3000, seed);
    // A limit that some lines pass, so that dropping is cut in every way too.
    for (const size_t limit : {kMaxLineBytes, size_t{150}}) {
      const Seen whole = ReadInChunks(text, text.size(), limit);
      for (size_t chunk = 1; chunk <= text.size(); ++chunk) {
        ASSERT_EQ(ReadInChunks(text, chunk, limit), whole) << seed << " " << chunk;
      }
    }
  }
  const std::string text = RandomText(200000, 7);
  const Seen whole = ReadInChunks(text, text.size());
  for (size_t chunk = 61; chunk <= 65536; chunk += 509) {
    ASSERT_EQ(ReadInChunks(text, chunk), whole) << chunk;
  }
  ASSERT_EQ(ReadInChunks(text, 65536), whole);
}

// B01: a line without end stays within the cap plus a constant, and is named.
TEST(LineReader, LongLinesAreDroppedInBoundedMemory) {
  const std::string piece(1 << 16, 'x');
  const std::string spaces(1 << 16, ' ');
  for (const std::string* filling : {&piece, &spaces}) {
    LineReader reader;
    Line line;
    size_t most = 0;
    for (size_t fed = 0; fed < (40u << 20); fed += filling->size()) {
      reader.Feed(*filling);
      EXPECT_FALSE(reader.Next(&line));
      most = std::max(most, reader.held_bytes());
    }
    EXPECT_LE(most, kMaxLineBytes);
    EXPECT_EQ(reader.held_bytes(), 0u);
    reader.Feed("\nnext\n");
    ASSERT_TRUE(reader.Next(&line));
    EXPECT_TRUE(line.too_long);
    EXPECT_EQ(line.number, 1);
    ASSERT_TRUE(reader.Next(&line));
    EXPECT_EQ(line.text, "next");
    EXPECT_EQ(line.number, 2);
    EXPECT_FALSE(reader.Next(&line));
  }
}

TEST(LineReader, TheLimitIsExact) {
  for (size_t chunk = 1; chunk <= 12; ++chunk) {
    EXPECT_EQ(ReadInChunks("12345678\n123456789\n1234567\r\n12345678\r\n123456789", chunk, 8).lines,
              (Lines{"1 12345678", "2 <too long>", "3 1234567", "4 <too long>", "5! <too long>"}));
  }
}

}  // namespace
}  // namespace omnigraph::write
