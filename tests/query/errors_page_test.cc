// docs/errors.md lists exactly the codes that queries can answer with.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace omnigraph::query {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void Collect(const std::string& text, const std::string& pattern, const std::string& prefix,
             std::set<std::string>* out) {
  const std::regex regex(pattern);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex);
       it != std::sregex_iterator(); ++it) {
    out->insert(prefix + (*it)[1].str());
  }
}

TEST(ErrorsPage, NamesEveryCodeOfQueries) {
  const std::filesystem::path root = OMNIGRAPH_SOURCE_DIR;
  std::set<std::string> documented;
  Collect(ReadText(root / "docs/errors.md"), R"re(`(query\.[A-Za-z0-9_]+)`)re", "", &documented);
  std::set<std::string> used;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "src/query")) {
    if (entry.path().extension() == ".cc") {
      const std::string text = ReadText(entry.path());
      Collect(text, R"re("(query\.[a-z_]+)")re", "", &used);
      Collect(text, R"re("(T[0-9]+)")re", "query.", &used);
    }
  }
  used.erase("query.expression");  // a bug, not an answer
  EXPECT_GT(used.size(), 30U);
  EXPECT_EQ(documented, used);
}

}  // namespace
}  // namespace omnigraph::query
