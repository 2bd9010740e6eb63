#include "constraints.h"

#include <arrow/array.h>
#include <arrow/scalar.h>
#include <fmt/format.h>

#include <utility>

#include "omnigraph/graph/ingest/rejects.h"
#include "omnigraph/graph/schema/physical.h"

namespace omnigraph::graph {
namespace {

constexpr Hash128 kExempt{};

std::string_view IdOf(const arrow::RecordBatch& batch, int64_t row) {
  return static_cast<const arrow::StringArray&>(*batch.column(0)).GetView(row);
}

/// The values of a rule's members at a row, each with its length; false where one of them is null.
bool MemberTexts(const schema::TypeDef& type, const schema::MemberRule& rule,
                 const arrow::RecordBatch& batch, int64_t row, std::vector<std::string>* out) {
  for (const schema::Member& member : rule.members) {
    const arrow::Array& column = *batch.column(schema::ColumnOf(type, member));
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

ConstraintState::Facts ConstraintState::FactsOf(const arrow::RecordBatch& batch,
                                                int64_t row) const {
  Facts out;
  for (const schema::MemberRule& rule : type_->uniques) {
    std::vector<std::string> texts;
    Hash128 value = kExempt;
    if (MemberTexts(*type_, rule, batch, row, &texts)) {
      std::string joined;
      for (const std::string& text : texts) {
        joined += fmt::format("{}:", text.size()) + text;
      }
      value = XxHash128(joined);
    }
    out.values.push_back(value);
  }
  if (type_->is_edge()) {
    out.source = XxHash128(static_cast<const arrow::StringArray&>(*batch.column(1)).GetView(row));
  }
  return out;
}

std::string ConstraintState::ValueText(const schema::MemberRule& rule,
                                       const arrow::RecordBatch& batch, int64_t row) const {
  std::vector<std::string> texts;
  (void)MemberTexts(*type_, rule, batch, row, &texts);
  std::string out;
  for (const std::string& text : texts) {
    out += (out.empty() ? "\"" : ", \"") + text + "\"";
  }
  return out;
}

Status ConstraintState::Read(const lance::Table& table) {
  facts_.Clear();
  counts_.Clear();
  holders_.assign(type_->uniques.size(), {});
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader, table.Scan());
  while (true) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> batch, reader->Next());
    if (batch == nullptr) {
      return Status::OK();
    }
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      Apply(*batch, row);
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
    if (!(facts->values[rule] == kExempt)) {
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

void ConstraintState::Apply(const arrow::RecordBatch& batch, int64_t row) {
  const std::string_view id = IdOf(batch, row);
  const Hash128 hash = XxHash128(id);
  Remove(hash);
  Facts facts = FactsOf(batch, row);
  for (size_t rule = 0; rule < facts.values.size(); ++rule) {
    if (!(facts.values[rule] == kExempt)) {
      holders_[rule].Insert(facts.values[rule], std::string(id));
    }
  }
  if (type_->is_edge()) {
    ++*counts_.Insert(facts.source, 0).first;
  }
  facts_.Insert(hash, std::move(facts));
}

}  // namespace omnigraph::graph
