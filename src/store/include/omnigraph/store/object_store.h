/// \file
/// The one interface between the project and stored bytes: whole immutable objects under
/// '/'-separated names, and a conditional put as the only coordination.
///
/// Everything above rests on four operations: get, list, delete and put if absent (protocol rules
/// P1 to P5). What a durable put does on a local disk: docs/format/durable-put.md.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"

namespace omnigraph::store {

/// A part of an object.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

/// The bytes of one object as a scatter list: written in order, never copied together first.
using Bytes = std::vector<std::shared_ptr<arrow::Buffer>>;

/// How a put orders its name after its bytes (rule P2). Both are durable when the put returns.
enum class PutStrength : uint8_t {
  kStrict,   ///< manifests: the bytes are on the medium before the name exists
  kOrdered,  ///< log entries, data, deletion and index files: the bytes were handed to the medium
             ///< first
};

/// Whether deletions of one caller survive a power cut in the order in which they were made.
enum class DeleteOrder : uint8_t {
  kKept,  ///< numbered chains (C5): costs a sync each on file systems that do not order them
  kFree,  ///< what nobody reads any more, such as collected log entries
};

struct ObjectInfo {
  std::string path;
  uint64_t size = 0;
  int64_t modified_us = 0;  ///< microseconds since the Unix epoch, by the store's clock
};

struct ListOptions {
  /// Only names that sort after this one (bytewise). Empty: from the start.
  std::string start_after;
  /// Objects and common prefixes of one page together. REQUIRES: at least 1.
  size_t limit = 1000;
  /// True: names with a '/' behind the prefix are rolled up into `common_prefixes`.
  bool delimited = false;
};

struct ListPage {
  std::vector<ObjectInfo> objects;           ///< ascending by path, bytewise
  std::vector<std::string> common_prefixes;  ///< ascending; each ends in '/'
  /// What to pass as `start_after` for the page that follows; empty on the last page.
  std::string next;
};

/// The last bytes of an object.
struct ObjectTail {
  std::shared_ptr<arrow::Buffer> bytes;
  uint64_t object_size = 0;
};

/// A store of whole objects. Thread-safe.
///
/// Names are relative to the root of the store: segments joined by '/', none of them empty, `.` or
/// `..`, no NUL byte. No object's name may be a folder of another's.
///
/// Errors of every operation: kInvalid `store.bad_path` (a name as above is broken), kInvalid
/// `store.permission_denied`, kInvalid `store.not_a_folder` (a folder of the name is an object),
/// kInvalid `store.is_a_folder`, kUnavailable `store.io` and, from remote or faulty stores,
/// kUnavailable with other codes. `ErrorDetail::effect_unknown()` is set on every failed change
/// that may have taken effect all the same, or may still do so.
class ObjectStore {
 public:
  ObjectStore() = default;
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;
  virtual ~ObjectStore() = default;

  /// Read a whole object.
  /// Errors: kNotFound `store.not_found`.
  /// Cost:   one read.
  virtual Result<std::shared_ptr<arrow::Buffer>> Get(std::string_view path) = 0;

  /// Read several parts of one object; near parts share a read.
  /// Shape:  one buffer per range, in the order asked, each of exactly the length asked. Buffers
  /// may share
  ///         memory and have any alignment.
  /// Errors: kNotFound; kCorruption `store.short_object` when a range reaches past the end: offsets
  /// come from
  ///         stored bytes or from a known size, so one of the two is broken.
  virtual Result<std::vector<std::shared_ptr<arrow::Buffer>>> GetRanges(
      std::string_view path, std::span<const ByteRange> ranges) = 0;

  /// Read the last `max_bytes` of an object (all of it when it is smaller), and learn its size, in
  /// one call. Errors: kNotFound.
  virtual Result<ObjectTail> GetTail(std::string_view path, uint64_t max_bytes) = 0;

  /// Size and age of an object.
  /// Errors: kNotFound.
  virtual Result<ObjectInfo> Head(std::string_view path) = 0;

  /// Put an object, in the place of one of the same name if there is one. Strict (P2), durable when
  /// it returns OK (P1); a reader sees the old bytes or the new, whole. Errors: kExhausted
  /// `store.full`; kUnavailable `store.sync_failed`: after a failed sync nothing is settled by
  ///         reading (P3).
  virtual Status Put(std::string_view path, const Bytes& bytes) = 0;

  /// Put an object unless one of this name exists; of several callers at most one gets OK. Durable
  /// when it returns OK (P1). Never retried inside (P4). Errors: kAlreadyExists
  /// `store.already_exists`; as Put. Any outcome but OK is settled by reading, except
  ///         after `store.sync_failed`.
  virtual Status PutIfAbsent(std::string_view path, const Bytes& bytes, PutStrength strength) = 0;

  /// Make an object durable whoever put it: what reads back may be an unfinished or failed put that
  /// a power cut still takes away (P5). Its bytes and its name stay; a store that shows only what
  /// is durable does nothing. REQUIRES: nobody puts other bytes in its place meanwhile.
  ///
  /// Errors: kNotFound, also when it is deleted meanwhile (it never comes back); as Put.
  ///
  /// Cost: locally one read and one put.
  virtual Status MakeDurable(std::string_view path) = 0;

  /// List the objects whose names begin with `prefix` (any string: "a/b" finds "a/b", "a/bc" and
  /// "a/b/c"), in bytewise order. Nothing there is an empty page. Objects that come or go meanwhile
  /// may or may not be seen.
  virtual Result<ListPage> List(std::string_view prefix, const ListOptions& options = {}) = 0;

  /// Delete an object; an absent one is OK. Not durable by itself.
  virtual Status Delete(std::string_view path, DeleteOrder order) = 0;
  Status Delete(std::string_view path) { return Delete(path, DeleteOrder::kKept); }
};

/// List all pages. For listings that are bounded by something else, and for tests.
Result<std::vector<ObjectInfo>> ListAll(ObjectStore& store, std::string_view prefix);

/// The bytes of `text` as a one-part scatter list; copies once, or not at all from an rvalue.
Bytes BytesOf(std::string text);

/// Sum of the sizes of the parts.
uint64_t SizeOf(const Bytes& bytes);

/// True if the parts one after the other are the bytes of `object`.
bool SameBytes(const Bytes& parts, const arrow::Buffer& object);

/// Check a name: what ObjectStore says about names, and none of our hidden temporaries.
/// Errors: kInvalid `store.bad_path`.
Status CheckObjectPath(std::string_view path);

/// Open the store that `uri` names: a path, `file:` with a path (percent-encoded after `file://`),
/// or `memory:` (a new, empty one). Nothing is created before the first put. Errors: kUnsupported
/// `store.unsupported_scheme` for every other scheme; kInvalid `store.not_a_folder`; kInvalid
///         `store.permission_denied`.
Result<std::shared_ptr<ObjectStore>> OpenStore(std::string_view uri);

/// Try what the protocol rests on, with one small object below `__probe/`: put if absent, refusal
/// of the second put, whole and ranged reads, listing, delete. For `init` and for start-up checks
/// of unknown stores. Errors: what the store said; kUnsupported `store.probe_failed` when an answer
/// breaks a promise.
Status ProbeStore(ObjectStore& store);
/// OpenStore, then ProbeStore.
Status ProbeStore(std::string_view uri);

}  // namespace omnigraph::store
