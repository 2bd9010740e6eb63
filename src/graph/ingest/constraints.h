/// \file
/// `@unique` and `@card` at fold: who holds each value, and how many edges each source has, row by
/// row in log order (F4).
///
/// The state of a table is read from its columns once and then follows the folds of this process;
/// it is a cache, keyed by table version. Of a table whose state is too large to keep, each fold
/// reads what its own rows are compared with. `@card`'s minimum is not enforced on streamed rows:
/// they arrive one by one (docs/ingest.md).
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

  /// Memory that the whole state of a table with so many rows takes, rather too much than too
  /// little.
  static size_t BytesFor(const schema::TypeDef& type, uint64_t rows);
  /// What this state takes.
  size_t bytes() const;

  /// Read the state of a table. Cost: one scan of the columns that the rules name.
  Status Read(const lance::Table& table);
  /// Read only what Check() and Apply() of these rows, and any Remove(), need: the table's rows
  /// that share an id, a value of a rule or a source with one of them. Cost: as Read().
  Status ReadFor(const lance::Table& table, const std::vector<const arrow::RecordBatch*>& rows);
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

  /// Hashes that the rows of a cut name.
  struct Wanted {
    HashMap128<uint8_t> ids;
    std::vector<HashMap128<uint8_t>> values;  ///< per rule
    HashMap128<uint8_t> sources;              ///< where `@card` has a maximum
  };
  /// Where the columns of a table stand in a batch, by the table's numbers; empty: at their own.
  using Places = std::vector<int>;

  Facts FactsOf(const arrow::RecordBatch& batch, int64_t row, const Places& places = {}) const;
  bool Concerns(const Wanted& wanted, const Hash128& id, const Facts& facts) const;
  Status Scan(const lance::Table& table, const Wanted* wanted);
  void Put(std::string_view id, const Hash128& hash, Facts facts);
  std::string ValueText(const schema::MemberRule& rule, const arrow::RecordBatch& batch,
                        int64_t row) const;

  const schema::TypeDef* type_;
  HashMap128<Facts> facts_;                       ///< by id
  std::vector<HashMap128<std::string>> holders_;  ///< per rule: value to the id that has it
  HashMap128<uint64_t> counts_;                   ///< edges per source
  size_t text_bytes_ = 0;                         ///< of the ids in `holders_`
};

}  // namespace omnigraph::graph
