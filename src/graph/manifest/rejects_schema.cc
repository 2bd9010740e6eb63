#include "omnigraph/graph/manifest/rejects_schema.h"

#include <arrow/type.h>

namespace omnigraph::graph {

const std::shared_ptr<arrow::Schema>& RejectsSchema() {
  static const std::shared_ptr<arrow::DataType> time =
      arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
  static const std::shared_ptr<arrow::Schema> schema = arrow::schema({
      arrow::field("id", arrow::utf8(), false),
      arrow::field("state", arrow::utf8(), false),
      arrow::field("acked_at", time),
      arrow::field("rejected_at", time, false),
      arrow::field("branch", arrow::utf8(), false),
      arrow::field("kind", arrow::utf8(), false),
      arrow::field("type", arrow::utf8(), false),
      arrow::field("entity_id", arrow::utf8()),
      arrow::field("row", arrow::utf8()),
      arrow::field("code", arrow::utf8(), false),
      arrow::field("message", arrow::utf8()),
      arrow::field("actor", arrow::utf8()),
      arrow::field("producer", arrow::utf8()),
      arrow::field("sequence", arrow::uint64()),
      arrow::field("table_id", arrow::utf8(), false),
      arrow::field("shard", arrow::utf8(), false),
      arrow::field("epoch", arrow::uint64(), false),
      arrow::field("position", arrow::uint64(), false),
      arrow::field("commit_id", arrow::utf8(), false),
      arrow::field("replayed_as", arrow::utf8()),
  });
  return schema;
}

}  // namespace omnigraph::graph
