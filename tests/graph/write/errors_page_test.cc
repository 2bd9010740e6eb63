// docs/errors.md lists exactly the codes that the sources can answer with.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace omnigraph {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void Collect(const std::string& text, const std::regex& pattern, std::set<std::string>* out) {
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it) {
    out->insert((*it)[1].str());
  }
}

TEST(ErrorsPage, NamesEveryCodeOfSchemaRowsAndLoads) {
  const std::filesystem::path root = OMNIGRAPH_SOURCE_DIR;
  std::set<std::string> documented;
  Collect(ReadFile(root / "docs/errors.md"),
          std::regex(R"re(\| `((?:schema|row|constraint|edge|load)\.[a-z0-9_]+)` \|)re"),
          &documented);
  std::set<std::string> used;
  for (const char* folder : {"src/graph/schema", "src/graph/write", "src/graph/manifest"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".cc" || entry.path().extension() == ".h") {
        Collect(ReadFile(entry.path()),
                std::regex(R"re("((?:schema|row|constraint|edge|load)\.[a-z0-9_]+)")re"), &used);
      }
    }
  }
  EXPECT_GT(used.size(), 60u);
  EXPECT_EQ(documented, used);
}

}  // namespace
}  // namespace omnigraph
