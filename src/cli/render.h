/// \file
/// What a person reads: the JSON shapes of engine/json.h as text. The numbers come from the data,
/// never from text.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace omnigraph::cli {

std::string RenderIngest(const boost::json::object& outcome);
std::string RenderFold(const boost::json::object& report);
std::string RenderStatus(const boost::json::object& status);
std::string RenderLoad(const boost::json::object& report);
std::string RenderRejects(const boost::json::array& rejects);
std::string RenderCounts(const boost::json::object& counts);
std::string RenderCommits(const boost::json::array& commits);
std::string RenderTables(const boost::json::array& tables);

/// Columns aligned to their widest cell, numbers to the right; no line ends with spaces.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void Add(std::vector<std::string> row);
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace omnigraph::cli
