// Promotion of a detached version to the ordinary chain (C7, docs/protocols/publishing.md).

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/lance/table/transaction.h"
#include "omnigraph/store/object_store.h"
#include "version_parts.h"

namespace omnigraph::lance {
namespace {

constexpr std::string_view kCreatedProperty = "omnigraph.created";

/// Properties of the transaction that made a version; none where it does not say.
Result<std::map<std::string, std::string>> PropertiesOf(const Table& table) {
  OG_ASSIGN_OR_RETURN(const std::optional<Transaction> transaction,
                      ReadTransaction(table.location(), table.manifest()));
  return transaction ? transaction->properties : std::map<std::string, std::string>();
}

/// One Update for everything between two versions; nullopt where their fragments do not compare.
std::optional<Transaction> UpdateBetween(const Table& latest, const Table& head) {
  if (*latest.lance_schema() != *head.lance_schema()) {
    return std::nullopt;
  }
  Transaction update;
  update.operation = Operation::kUpdate;
  for (const Fragment& fragment : head.manifest().fragments) {
    const Fragment* before = latest.manifest().FindFragment(fragment.id);
    if (before == nullptr) {
      update.new_fragments.push_back(Unassigned(fragment, /*keeps_row_ids=*/true));
    } else if (before->files != fragment.files || before->row_ids != fragment.row_ids) {
      return std::nullopt;  // the same number, other rows
    } else if (before->deletion_file != fragment.deletion_file) {
      update.updated_fragments.push_back(fragment);
    }
  }
  for (const Fragment& fragment : latest.manifest().fragments) {
    if (head.manifest().FindFragment(fragment.id) == nullptr) {
      update.removed_fragment_ids.push_back(fragment.id);
    }
  }
  update.bitmap_fields = AllFieldIds(*head.lance_schema());
  return update;
}

Result<Transaction> TransactionFor(const Table& latest, const Table& head) {
  std::optional<Transaction> update;
  OG_ASSIGN_OR_RETURN(const bool own, IsOwnVersion(latest));
  if (own) {
    update = UpdateBetween(latest, head);
  }
  Transaction transaction = update.value_or(Transaction{});
  if (!update) {
    transaction.operation = Operation::kRestore;
    transaction.restored_version = head.version();
  }
  transaction.read_version = latest.version();
  transaction.properties[std::string(kPromotedProperty)] = std::to_string(head.version());
  return transaction;
}

Status PromoteLost(const Table& latest) {
  return Conflict("promote.lost",
                  fmt::format("{} moved beyond version {} meanwhile; start over",
                              latest.location().path, latest.version()),
                  {.object = latest.location().path});
}

/// C5: the put counts only if what it was made on stands after its positive answer, or nothing came
/// after it. Else it is taken back: its predecessor was pruned, and it is not the newest.
Status CheckCounts(const Table& latest, const BuiltVersion& built) {
  OG_ASSIGN_OR_RETURN(const bool stands, StillStands(latest.location(), latest.stored()));
  if (stands) {
    return Status::OK();
  }
  OG_ASSIGN_OR_RETURN(const StoredManifest newest,
                      ReadLatestManifest(latest.location(), Look::kWriter));
  if (newest.manifest.version == built.manifest.version) {
    return Status::OK();
  }
  OG_RETURN_NOT_OK(latest.location().store->Delete(built.object));
  return PromoteLost(latest);
}

}  // namespace

Result<bool> IsOwnVersion(const Table& table) {
  OG_ASSIGN_OR_RETURN(const auto properties, PropertiesOf(table));
  return properties.contains(std::string(kCreatedProperty)) ||
         properties.contains(std::string(kPromotedProperty));
}

Result<std::optional<uint64_t>> PromotedVersion(const Table& table) {
  OG_ASSIGN_OR_RETURN(const auto properties, PropertiesOf(table));
  const auto at = properties.find(std::string(kPromotedProperty));
  if (at == properties.end()) {
    return std::nullopt;
  }
  const std::string& text = at->second;
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(version)
                                                                  : std::nullopt;
}

Result<std::shared_ptr<const Table>> Promote(const std::shared_ptr<const Table>& latest,
                                             const std::shared_ptr<const Table>& head) {
  OG_ASSIGN_OR_RETURN(const std::optional<uint64_t> promoted, PromotedVersion(*latest));
  if (head->version() == latest->version() || promoted == head->version()) {
    return latest;
  }
  OG_RETURN_NOT_OK(CheckWriterFlags(latest->manifest().writer_flags, latest->passes_guard(),
                                    latest->stored().object));
  Manifest next = head->manifest();
  next.version = latest->version() + 1;
  next.next_row_id = std::max(next.next_row_id, latest->manifest().next_row_id);
  if (latest->manifest().max_fragment_id) {
    next.max_fragment_id =
        std::max(next.max_fragment_id.value_or(0), *latest->manifest().max_fragment_id);
  }
  OG_ASSIGN_OR_RETURN(Transaction transaction, TransactionFor(*latest, *head));
  OG_ASSIGN_OR_RETURN(const BuiltVersion built,
                      FinishBuild(latest, std::move(next), std::move(transaction),
                                  latest->stored().naming, {.write_transaction_file = true}));
  auto put = PutSettled(built);
  if (!put.ok()) {
    return CodeOf(put.status()) == "commit.lost" ? PromoteLost(*latest) : put.status();
  }
  const Status counts = CheckCounts(*latest, built);
  if (!counts.ok()) {
    return IsConflict(counts) ? counts : WithUnknownEffect(counts);
  }
  // Only helps readers and official writers; the version stands without it.
  (void)WriteHint(latest->location(), built.manifest.version);
  return put;
}

}  // namespace omnigraph::lance
