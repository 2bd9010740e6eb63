#include "key_search.h"

#include <algorithm>
#include <unordered_map>

#include "btree_format.h"
#include "fragment_keys.h"
#include "omnigraph/base/hash.h"

namespace omnigraph::lance {
namespace {

/// Pages that are read and decoded together.
constexpr size_t kPagesPerRead = 2048;
/// A fragment whose keys would take more than this share of the cache is scanned, not kept.
constexpr uint64_t kFragmentShare = 8;
/// What a cached key of a fragment takes, about.
constexpr uint64_t kBytesPerKey = 56;

bool Covers(const IndexMetadata& index, uint64_t fragment_id) {
  return std::binary_search(index.fragment_ids.begin(), index.fragment_ids.end(), fragment_id);
}

std::string PageName(const BTreeSegment& segment, uint32_t page) {
  return segment.folder() + "#" + std::to_string(page);
}

std::string BloomName(const BTreeSegment& segment) {
  return segment.folder() + "#bloom";
}

}  // namespace

Result<std::vector<std::optional<uint64_t>>> KeySearch::Run() {
  stats_.keys = keys_.size();
  found_.resize(keys_.size());
  hashes_.reserve(keys_.size());
  for (size_t i = 0; i < keys_.size(); ++i) {
    hashes_.push_back(XxHash64(keys_[i]));
    open_.push_back(i);
  }
  if (open_.empty()) {
    return found_;
  }
  OG_RETURN_NOT_OK(OpenSources());
  for (const Source& source : sources_) {
    OG_RETURN_NOT_OK(SearchSegment(source));
    DropFound();
  }
  for (const Fragment* fragment : uncovered_) {
    if (open_.empty()) {
      break;
    }
    OG_RETURN_NOT_OK(SearchFragment(*fragment));
    DropFound();
  }
  return std::move(found_);
}

void KeySearch::DropFound() {
  std::erase_if(open_, [&](size_t key) { return found_[key].has_value(); });
}

Result<std::shared_ptr<const BTreeSegment>> KeySearch::OpenSegment(const IndexMetadata& index) {
  const std::string name = table_.location().Child(index.uuid.ToString());
  if (auto known = cache_.Find<BTreeSegment>(name)) {
    return known;
  }
  OG_ASSIGN_OR_RETURN(auto segment, BTreeSegment::Open(table_.location(), index));
  OG_RETURN_NOT_OK(segment->CheckUtf8());
  cache_.Insert(name, segment, segment->bytes());
  return segment;
}

/// Open the segments; fragments of those that cannot be used are scanned like uncovered ones.
Status KeySearch::OpenSources() {
  for (const IndexMetadata& index : table_.manifest().indices) {
    if (!IsBTreeOn(index, column_.field_id)) {
      continue;
    }
    auto segment = OpenSegment(index);
    if (!segment.ok() && (IsNotFound(segment.status()) || IsUnsupported(segment.status()))) {
      continue;
    }
    OG_RETURN_NOT_OK(segment.status());
    sources_.push_back({*std::move(segment), &index});
  }
  std::ranges::stable_sort(sources_, [](const Source& a, const Source& b) {
    return a.segment->rows() > b.segment->rows();
  });
  for (const Fragment& fragment : table_.manifest().fragments) {
    if (std::ranges::none_of(
            sources_, [&](const Source& source) { return Covers(*source.index, fragment.id); })) {
      uncovered_.push_back(&fragment);
    }
  }
  std::ranges::reverse(uncovered_);
  return Status::OK();
}

std::vector<KeySearch::Candidate> KeySearch::CandidatesIn(const BTreeSegment& segment) const {
  std::vector<Candidate> candidates;
  for (const size_t key : open_) {
    const BTreeSegment::PageSpan pages = segment.PagesOf(keys_[key]);
    if (!pages.empty()) {
      candidates.push_back({key, pages});
    }
  }
  return candidates;
}

/// Ask the Bloom filter, if it is at hand or costs less than the pages that it may spare.
Status KeySearch::DropAbsent(const BTreeSegment& segment, std::vector<Candidate>* candidates) {
  if (segment.bloom_bytes() == 0 || candidates->empty()) {
    return Status::OK();
  }
  auto filter = cache_.Find<BloomFilter>(BloomName(segment));
  if (filter == nullptr) {
    if (candidates->size() * segment.page_bytes() < segment.bloom_bytes()) {
      return Status::OK();
    }
    OG_ASSIGN_OR_RETURN(filter, segment.ReadBloom());
    cache_.Insert(BloomName(segment), filter, filter->bytes());
  }
  const size_t before = candidates->size();
  std::erase_if(*candidates, [&](const Candidate& candidate) {
    return !filter->MayContain(hashes_[candidate.key]);
  });
  stats_.stopped_by_filter += before - candidates->size();
  return Status::OK();
}

Status KeySearch::SearchSegment(const Source& source) {
  std::vector<Candidate> candidates = CandidatesIn(*source.segment);
  OG_RETURN_NOT_OK(DropAbsent(*source.segment, &candidates));
  for (size_t begin = 0; begin < candidates.size();) {
    size_t pages = 0;
    size_t end = begin;
    while (end < candidates.size() && (pages < kPagesPerRead || end == begin)) {
      const bool shared =
          end > begin && candidates[end - 1].pages.end > candidates[end].pages.begin;
      pages += candidates[end].pages.end - candidates[end].pages.begin - (shared ? 1 : 0);
      ++end;
    }
    OG_RETURN_NOT_OK(SearchPages(source, std::span(candidates).subspan(begin, end - begin)));
    begin = end;
  }
  return Status::OK();
}

Result<std::vector<std::shared_ptr<const BTreePage>>> KeySearch::GetPages(
    const BTreeSegment& segment, const std::vector<uint32_t>& pages) {
  std::vector<std::shared_ptr<const BTreePage>> out;
  std::vector<uint32_t> missing;
  for (const uint32_t page : pages) {
    out.push_back(cache_.Find<BTreePage>(PageName(segment, page)));
    if (out.back() == nullptr) {
      missing.push_back(page);
    }
  }
  stats_.pages_from_cache += pages.size() - missing.size();
  stats_.pages_read += missing.size();
  if (missing.empty()) {
    return out;
  }
  OG_ASSIGN_OR_RETURN(auto read, segment.ReadPages(missing));
  size_t next = 0;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (out[i] == nullptr) {
      out[i] = std::move(read[next++]);
      cache_.Insert(PageName(segment, pages[i]), out[i], out[i]->bytes());
    }
  }
  return out;
}

Status KeySearch::SearchPages(const Source& source, std::span<const Candidate> candidates) {
  std::vector<uint32_t> numbers;
  for (const Candidate& candidate : candidates) {
    for (uint32_t page = candidate.pages.begin; page < candidate.pages.end; ++page) {
      if (numbers.empty() || numbers.back() < page) {
        numbers.push_back(page);
      }
    }
  }
  OG_ASSIGN_OR_RETURN(const auto pages, GetPages(*source.segment, numbers));
  std::vector<Hit> hits;
  for (const Candidate& candidate : candidates) {
    auto at = static_cast<size_t>(std::ranges::lower_bound(numbers, candidate.pages.begin) -
                                  numbers.begin());
    for (uint32_t page = candidate.pages.begin; page < candidate.pages.end; ++page, ++at) {
      const auto [begin, end] = pages[at]->Find(keys_[candidate.key]);
      for (int64_t row = begin; row < end; ++row) {
        hits.push_back({candidate.key, pages[at]->ids[static_cast<size_t>(row)]});
      }
    }
  }
  return Settle(source, hits);
}

/// Keep the hits whose row lives.
Status KeySearch::Settle(const Source& source, const std::vector<Hit>& hits) {
  std::vector<uint64_t> ids;
  ids.reserve(hits.size());
  for (const Hit& hit : hits) {
    ids.push_back(hit.id);
  }
  OG_ASSIGN_OR_RETURN(const auto addresses, LiveAddresses(table_, *source.index, ids));
  for (size_t i = 0; i < hits.size(); ++i) {
    if (addresses[i]) {
      found_[hits[i].key] = addresses[i];
    }
  }
  return Status::OK();
}

Status KeySearch::SearchFragment(const Fragment& fragment) {
  ++stats_.fragments_scanned;
  std::vector<Hit> hits;  // ids are offsets
  const bool small = fragment.physical_rows * kBytesPerKey <= cache_.bytes_max() / kFragmentShare;
  OG_RETURN_NOT_OK(small ? MatchCached(fragment, &hits) : MatchScanned(fragment, &hits));
  if (hits.empty()) {
    return Status::OK();
  }
  OG_ASSIGN_OR_RETURN(const DeletionVector deletions, table_.Deletions(fragment.id));
  for (const Hit& hit : hits) {
    if (!deletions.Contains(static_cast<uint32_t>(hit.id))) {
      found_[hit.key] = MakeRowAddress(fragment.id, hit.id);
    }
  }
  return Status::OK();
}

Status KeySearch::MatchCached(const Fragment& fragment, std::vector<Hit>* hits) {
  if (fragment.files.empty()) {
    return Status::OK();
  }
  // Data files have names of their own; the newest one of the fragment tells its state.
  const std::string name =
      table_.location().Child(fragment.files.back().path) + "#" + std::to_string(column_.field_id);
  auto keys = cache_.Find<FragmentKeys>(name);
  if (keys == nullptr) {
    OG_ASSIGN_OR_RETURN(
        keys, FragmentKeys::Read(table_, fragment.files, fragment.physical_rows, column_));
    cache_.Insert(name, keys, keys->bytes());
  }
  std::vector<uint32_t> offsets;
  for (const size_t key : open_) {
    offsets.clear();
    keys->Find(keys_[key], hashes_[key], &offsets);
    for (const uint32_t offset : offsets) {
      hits->push_back({key, offset});
    }
  }
  return Status::OK();
}

Status KeySearch::MatchScanned(const Fragment& fragment, std::vector<Hit>* hits) {
  std::unordered_map<std::string_view, size_t> wanted;
  wanted.reserve(open_.size());
  for (const size_t key : open_) {
    wanted.emplace(keys_[key], key);
  }
  return VisitKeys(table_, fragment.files, fragment.physical_rows, column_,
                   [&](const std::shared_ptr<arrow::StringArray>& batch, uint64_t first) {
                     for (int64_t i = 0; i < batch->length(); ++i) {
                       if (batch->IsNull(i)) {
                         continue;
                       }
                       const auto at = wanted.find(batch->GetView(i));
                       if (at != wanted.end()) {
                         hits->push_back({at->second, first + static_cast<uint64_t>(i)});
                       }
                     }
                     return Status::OK();
                   });
}

}  // namespace omnigraph::lance
