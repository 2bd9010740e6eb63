#include "constraints.h"

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <fmt/format.h>

#include <set>
#include <utility>

#include "omnigraph/graph/ingest/rejects.h"
#include "omnigraph/graph/schema/physical.h"

namespace omnigraph::graph {
namespace {

constexpr Hash128 kExempt{};
constexpr int64_t kScanBatchRows = 16 * 1024;

/// What a string of this length has outside of itself.
size_t HeapBytes(size_t size) {
  return size <= 15 ? 0 : size + 1 + 16;
}

std::string_view IdOf(const arrow::RecordBatch& batch, int64_t row) {
  return static_cast<const arrow::StringArray&>(*batch.column(0)).GetView(row);
}

/// The values of a rule's members at a row, each with its length; false where one of them is null.
bool MemberTexts(const schema::TypeDef& type, const schema::MemberRule& rule,
                 const arrow::RecordBatch& batch, int64_t row, const std::vector<int>& places,
                 std::vector<std::string>* out) {
  for (const schema::Member& member : rule.members) {
    const int at = schema::ColumnOf(type, member);
    const arrow::Array& column =
        *batch.column(places.empty() ? at : places[static_cast<size_t>(at)]);
    if (column.IsNull(row)) {
      return false;
    }
    if (column.type_id() == arrow::Type::STRING) {
      out->emplace_back(static_cast<const arrow::StringArray&>(column).GetView(row));
      continue;
    }
    const Result<std::shared_ptr<arrow::Scalar>> scalar = column.GetScalar(row);
    OG_CHECK_OK(scalar);
    std::string text = (*scalar)->ToString();
    out->push_back(text == "-0" ? "0" : std::move(text));
  }
  return true;
}

}  // namespace

bool HasFoldConstraints(const schema::TypeDef& type) {
  return !type.uniques.empty() || (type.is_edge() && type.card.max.has_value());
}

size_t ConstraintState::BytesFor(const schema::TypeDef& type, uint64_t rows) {
  // Maps are between a third and two thirds full; ids are taken for 40 bytes long.
  const size_t per_rule = sizeof(Hash128) + 3 * (sizeof(Hash128) + sizeof(std::string) + 1) + 56;
  const size_t per_row = 3 * (sizeof(Hash128) + sizeof(Facts) + 1) + 16 +
                         (type.is_edge() ? 3 * (sizeof(Hash128) + sizeof(uint64_t) + 1) : 0);
  return rows * (per_row + type.uniques.size() * per_rule);
}

size_t ConstraintState::bytes() const {
  size_t sum = facts_.bytes() + counts_.bytes() + text_bytes_;
  for (const HashMap128<std::string>& holders : holders_) {
    sum += holders.bytes();
  }
  // The heap block of each row's values.
  return sum + facts_.size() * (type_->uniques.size() * sizeof(Hash128) + 16);
}

ConstraintState::Facts ConstraintState::FactsOf(const arrow::RecordBatch& batch, int64_t row,
                                                const Places& places) const {
  Facts out;
  for (const schema::MemberRule& rule : type_->uniques) {
    std::vector<std::string> texts;
    Hash128 value = kExempt;
    if (MemberTexts(*type_, rule, batch, row, places, &texts)) {
      std::string joined;
      for (const std::string& text : texts) {
        joined += fmt::format("{}:", text.size()) + text;
      }
      value = XxHash128(joined);
    }
    out.values.push_back(value);
  }
  if (type_->is_edge()) {
    const arrow::Array& source = *batch.column(places.empty() ? 1 : places[1]);
    out.source = XxHash128(static_cast<const arrow::StringArray&>(source).GetView(row));
  }
  return out;
}

std::string ConstraintState::ValueText(const schema::MemberRule& rule,
                                       const arrow::RecordBatch& batch, int64_t row) const {
  std::vector<std::string> texts;
  (void)MemberTexts(*type_, rule, batch, row, {}, &texts);
  std::string out;
  for (const std::string& text : texts) {
    out += (out.empty() ? "\"" : ", \"") + text + "\"";
  }
  return out;
}

Status ConstraintState::Read(const lance::Table& table) {
  return Scan(table, nullptr);
}

Status ConstraintState::ReadFor(const lance::Table& table,
                                const std::vector<const arrow::RecordBatch*>& rows) {
  Wanted wanted;
  wanted.values.resize(type_->uniques.size());
  for (const arrow::RecordBatch* batch : rows) {
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      const Facts facts = FactsOf(*batch, row);
      wanted.ids.Insert(XxHash128(IdOf(*batch, row)), 1);
      for (size_t rule = 0; rule < facts.values.size(); ++rule) {
        wanted.values[rule].Insert(facts.values[rule], 1);
      }
      if (type_->is_edge() && type_->card.max.has_value()) {
        wanted.sources.Insert(facts.source, 1);
      }
    }
  }
  return Scan(table, &wanted);
}

bool ConstraintState::Concerns(const Wanted& wanted, const Hash128& id, const Facts& facts) const {
  bool out = wanted.ids.Find(id) != nullptr || wanted.sources.Find(facts.source) != nullptr;
  for (size_t rule = 0; rule < facts.values.size(); ++rule) {
    out = out || (!(facts.values[rule] == kExempt) &&
                  wanted.values[rule].Find(facts.values[rule]) != nullptr);
  }
  return out;
}

Status ConstraintState::Scan(const lance::Table& table, const Wanted* wanted) {
  facts_.Clear();
  counts_.Clear();
  holders_.assign(type_->uniques.size(), {});
  text_bytes_ = 0;
  if (wanted != nullptr && wanted->ids.size() == 0) {
    return Status::OK();
  }
  std::set<int> columns = {0};
  if (type_->is_edge()) {
    columns.insert(1);
  }
  for (const schema::MemberRule& rule : type_->uniques) {
    for (const schema::Member& member : rule.members) {
      columns.insert(schema::ColumnOf(*type_, member));
    }
  }
  lance::ScanOptions options;
  options.columns.emplace();
  options.batch_rows = kScanBatchRows;
  Places places(static_cast<size_t>(table.schema()->num_fields()), -1);
  for (const int column : columns) {
    places[static_cast<size_t>(column)] = static_cast<int>(options.columns->size());
    options.columns->push_back(table.schema()->field(column)->name());
  }
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader, table.Scan(options));
  while (true) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> batch, reader->Next());
    if (batch == nullptr) {
      return Status::OK();
    }
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      Facts facts = FactsOf(*batch, row, places);
      const std::string_view id = IdOf(*batch, row);
      const Hash128 hash = XxHash128(id);
      if (wanted == nullptr || Concerns(*wanted, hash, facts)) {
        Put(id, hash, std::move(facts));
      }
    }
  }
}

std::optional<Violation> ConstraintState::Check(const arrow::RecordBatch& batch,
                                                int64_t row) const {
  const Facts now = FactsOf(batch, row);
  const std::string_view id = IdOf(batch, row);
  for (size_t rule = 0; rule < now.values.size(); ++rule) {
    if (now.values[rule] == kExempt) {
      continue;
    }
    const std::string* holder = holders_[rule].Find(now.values[rule]);
    if (holder != nullptr && *holder != id) {
      return Violation{kRejectUnique,
                       fmt::format("@unique of `{}`: {} of \"{}\" is held by \"{}\"", type_->name,
                                   ValueText(type_->uniques[rule], batch, row), id, *holder)};
    }
  }
  if (!type_->is_edge() || !type_->card.max.has_value()) {
    return std::nullopt;
  }
  const Facts* before = facts_.Find(XxHash128(id));
  const uint64_t* count = counts_.Find(now.source);
  uint64_t others = count == nullptr ? 0 : *count;
  if (before != nullptr && before->source == now.source) {
    --others;
  }
  if (others >= *type_->card.max) {
    const auto& sources = static_cast<const arrow::StringArray&>(*batch.column(1));
    return Violation{kRejectCard,
                     fmt::format("@card of `{}`: \"{}\" has {} edges already, at most "
                                 "{} are allowed",
                                 type_->name, sources.GetView(row), others, *type_->card.max)};
  }
  return std::nullopt;
}

void ConstraintState::Remove(const Hash128& id) {
  const Facts* facts = facts_.Find(id);
  if (facts == nullptr) {
    return;
  }
  for (size_t rule = 0; rule < facts->values.size(); ++rule) {
    if (const std::string* holder = holders_[rule].Find(facts->values[rule]); holder != nullptr) {
      text_bytes_ -= HeapBytes(holder->size());
      holders_[rule].Erase(facts->values[rule]);
    }
  }
  if (type_->is_edge()) {
    if (uint64_t* count = counts_.Find(facts->source); count != nullptr && --*count == 0) {
      counts_.Erase(facts->source);
    }
  }
  facts_.Erase(id);
}

void ConstraintState::Put(std::string_view id, const Hash128& hash, Facts facts) {
  Remove(hash);
  for (size_t rule = 0; rule < facts.values.size(); ++rule) {
    if (!(facts.values[rule] == kExempt) &&
        holders_[rule].Insert(facts.values[rule], std::string(id)).second) {
      text_bytes_ += HeapBytes(id.size());
    }
  }
  if (type_->is_edge()) {
    ++*counts_.Insert(facts.source, 0).first;
  }
  facts_.Insert(hash, std::move(facts));
}

void ConstraintState::Apply(const arrow::RecordBatch& batch, int64_t row) {
  const std::string_view id = IdOf(batch, row);
  Put(id, XxHash128(id), FactsOf(batch, row));
}

}  // namespace omnigraph::graph
