/// \file
/// `@unique` and `@card` at fold: who holds each value, and how many edges each source has, row by
/// row in log order (F4).
///
/// The state of a table is read from its columns once and then follows the folds of this process;
/// it is a cache, keyed by table version. `@card`'s minimum is not enforced on streamed rows: they
/// arrive one by one (docs/ingest.md).
#pragma once

#include <arrow/record_batch.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hash_map.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::graph {

/// True for types whose rows need this.
bool HasFoldConstraints(const schema::TypeDef& type);

/// Why a row breaks a constraint.
struct Violation {
  std::string_view code;
  std::string message;
};

/// The state of one table, moved along row by row. Single-owner.
class ConstraintState {
 public:
  explicit ConstraintState(const schema::TypeDef& type) : type_(&type) {}

  /// Read the state of a table. Cost: one scan of the columns that the rules name.
  Status Read(const lance::Table& table);
  /// Whether row `row` may take effect now; nothing: it may.
  std::optional<Violation> Check(const arrow::RecordBatch& batch, int64_t row) const;
  /// It takes effect.
  void Apply(const arrow::RecordBatch& batch, int64_t row);
  /// An id is gone (deleted or cascaded).
  void Remove(const Hash128& id);

  void set_type(const schema::TypeDef& type) { type_ = &type; }

 private:
  struct Facts {
    std::vector<Hash128> values;  ///< per rule; zero: exempt
    Hash128 source;               ///< edges
  };

  Facts FactsOf(const arrow::RecordBatch& batch, int64_t row) const;
  std::string ValueText(const schema::MemberRule& rule, const arrow::RecordBatch& batch,
                        int64_t row) const;

  const schema::TypeDef* type_;
  HashMap128<Facts> facts_;                       ///< by id
  std::vector<HashMap128<std::string>> holders_;  ///< per rule: value to the id that has it
  HashMap128<uint64_t> counts_;                   ///< edges per source
};

}  // namespace omnigraph::graph
