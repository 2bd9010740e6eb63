#include "endpoints.h"

namespace omnigraph::graph {

Status Endpoints::Resolve(const TypeCut& nodes, KeyDirectory* directory) {
  states_.assign(keys_.size(), State::kUnknown);
  std::vector<KeyRef> ask;
  std::vector<uint32_t> asked;
  for (uint32_t i = 0; i < keys_.size(); ++i) {
    if (const uint32_t* row = nodes.last.Find(keys_[i].hash); row != nullptr) {
      states_[i] = nodes.verdicts[*row] == Verdict::kDelete ? State::kDeleted : State::kPresent;
    } else {
      ask.push_back(keys_[i]);
      asked.push_back(i);
    }
  }
  OG_ASSIGN_OR_RETURN(const std::vector<bool> exist,
                      directory->Exist(nodes.type->table_id, nodes.base, ask));
  for (size_t i = 0; i < asked.size(); ++i) {
    states_[asked[i]] = exist[i] ? State::kPresent : State::kAbsent;
  }
  return Status::OK();
}

}  // namespace omnigraph::graph
