#include "pattern.h"

#include <arrow/api.h>
#include <arrow/compute/api.h>
#include <arrow/compute/initialize.h>

#include <utility>
#include <vector>

namespace omnigraph::write {

struct Pattern::Impl {
  /// The kernel's state keeps what it was compiled from; the kernel belongs to its function.
  arrow::compute::MatchSubstringOptions options;
  std::shared_ptr<arrow::compute::Function> function;
  const arrow::compute::ScalarKernel* kernel = nullptr;
  std::unique_ptr<arrow::compute::KernelState> state;

  /// Run the kernel over one value in place: no array, no allocation.
  Result<bool> Search(std::string_view text) {
    int32_t offsets[2] = {0, static_cast<int32_t>(text.size())};
    arrow::compute::ExecSpan input;
    input.length = 1;
    input.values.resize(1);
    arrow::ArraySpan& values = input.values[0].array;
    values.type = arrow::utf8().get();
    values.length = 1;
    values.null_count = 0;
    values.buffers[1].data = reinterpret_cast<uint8_t*>(offsets);
    values.buffers[1].size = sizeof(offsets);
    values.buffers[2].data = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
    values.buffers[2].size = static_cast<int64_t>(text.size());

    uint64_t bits = 0;
    arrow::ArraySpan found;
    found.type = arrow::boolean().get();
    found.length = 1;
    found.null_count = 0;
    found.buffers[1].data = reinterpret_cast<uint8_t*>(&bits);
    found.buffers[1].size = sizeof(bits);
    arrow::compute::ExecResult output;
    output.value = std::move(found);

    arrow::compute::KernelContext context(arrow::compute::default_exec_context(), kernel);
    context.SetState(state.get());
    OG_RETURN_NOT_OK(kernel->exec(&context, input, &output));
    return (bits & 1) != 0;
  }
};

Pattern::Pattern(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Pattern::~Pattern() = default;

Result<std::unique_ptr<Pattern>> Pattern::Make(const std::string& pattern) {
  static const Status initialized = arrow::compute::Initialize();
  OG_RETURN_NOT_OK(initialized);
  auto impl = std::make_unique<Impl>();
  impl->options = arrow::compute::MatchSubstringOptions(pattern);
  OG_ASSIGN_OR_RETURN(impl->function,
                      arrow::compute::GetFunctionRegistry()->GetFunction("match_substring_regex"));
  OG_ASSIGN_OR_RETURN(const auto* kernel, impl->function->DispatchExact({arrow::utf8()}));
  impl->kernel = static_cast<const arrow::compute::ScalarKernel*>(kernel);
  arrow::compute::KernelContext context(arrow::compute::default_exec_context(), kernel);
  const std::vector<arrow::TypeHolder> inputs = {arrow::utf8()};
  auto state = kernel->init(&context, {kernel, inputs, &impl->options});
  Status status = state.status();
  if (status.ok()) {
    impl->state = std::move(state).ValueUnsafe();
    status = impl->Search("").status();
  }
  if (!status.ok()) {
    return Invalid("schema.check_pattern",
                   "'" + pattern + "' is no regular expression (RE2 syntax): " + status.message());
  }
  return std::unique_ptr<Pattern>(new Pattern(std::move(impl)));
}

bool Pattern::Search(std::string_view text) {
  const Result<bool> found = impl_->Search(text);
  // The pattern compiled and the text is UTF-8: only memory can be missing.
  OG_CHECK_OK(found);
  return *found;
}

}  // namespace omnigraph::write
