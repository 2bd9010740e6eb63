#include <string>
#include <utility>

#include "omnigraph/store/local_store.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/store/object_store.h"
#include "temporary_name.h"

namespace omnigraph::store {
namespace {

/// The scheme of `uri`, without the colon; empty for a path.
std::string_view SchemeOf(std::string_view uri) {
  const size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return {};
  }
  for (const char c : uri.substr(0, colon)) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool other = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (!letter && !other) {
      return {};
    }
  }
  return uri.substr(0, colon);
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

Result<std::string> DecodePercent(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexValue(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return Invalid("store.bad_uri", "'" + std::string(text) + "' has a broken percent escape");
    }
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

/// The path of a `file:` URI: `file:path`, `file:/path`, `file:///path`, `file://localhost/path`.
Result<std::string> PathOfFileUri(std::string_view uri) {
  std::string_view rest = uri.substr(std::string_view("file:").size());
  if (!rest.starts_with("//")) {
    return std::string(rest);
  }
  rest.remove_prefix(2);
  const size_t slash = rest.find('/');
  const std::string_view host = rest.substr(0, slash);
  if (slash == std::string_view::npos || (!host.empty() && host != "localhost")) {
    return Invalid(
        "store.bad_uri",
        "'" + std::string(uri) + "' names another host; write file:///path for a local folder");
  }
  return DecodePercent(rest.substr(slash));
}

Status ProbeFailed(const std::string& what) {
  return Unsupported("store.probe_failed", "the store breaks a promise: " + what);
}

Status ProbeReads(ObjectStore& store, const std::string& name, const std::string& text) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Buffer> whole, store.Get(name));
  if (whole->ToString() != text) {
    return ProbeFailed("an object reads back with other bytes");
  }
  const ByteRange range{2, 3};
  OG_ASSIGN_OR_RETURN(const auto parts, store.GetRanges(name, std::span(&range, 1)));
  if (parts.size() != 1 || parts[0]->ToString() != text.substr(2, 3)) {
    return ProbeFailed("a range reads back with other bytes");
  }
  OG_ASSIGN_OR_RETURN(const std::vector<ObjectInfo> listed, ListAll(store, name));
  if (listed.size() != 1 || listed[0].size != text.size()) {
    return ProbeFailed("an object that was just put is not listed");
  }
  return Status::OK();
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> OpenStore(std::string_view uri) {
  const std::string_view scheme = SchemeOf(uri);
  if (scheme == "memory") {
    return std::make_shared<MemoryStore>();
  }
  std::string path(uri);
  if (scheme == "file") {
    OG_ASSIGN_OR_RETURN(path, PathOfFileUri(uri));
  } else if (!scheme.empty()) {
    return Unsupported("store.unsupported_scheme",
                       "cannot open '" + std::string(uri) + "': no store for '" +
                           std::string(scheme) +
                           ":' is built in; there are local folders (a path or file:) and memory:");
  }
  if (path.empty()) {
    return Invalid("store.bad_uri", "the name of a store is empty; give the path of a folder");
  }
  return LocalStore::Open(path);
}

Status ProbeStore(ObjectStore& store) {
  const std::string name = "__probe/" + NewProbeName();
  const std::string text = "omnigraph";
  OG_RETURN_NOT_OK(store.PutIfAbsent(name, BytesOf(text), PutStrength::kStrict));
  Status status = ProbeReads(store, name, text);
  if (status.ok() &&
      !IsAlreadyExists(store.PutIfAbsent(name, BytesOf("other"), PutStrength::kStrict))) {
    status = ProbeFailed("a put if absent does not refuse an object that exists");
  }
  OG_RETURN_NOT_OK(store.Delete(name));
  OG_RETURN_NOT_OK(status);
  if (!IsNotFound(store.Get(name).status())) {
    return ProbeFailed("a deleted object can still be read");
  }
  return Status::OK();
}

Status ProbeStore(std::string_view uri) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<ObjectStore> store, OpenStore(uri));
  return ProbeStore(*store);
}

}  // namespace omnigraph::store
