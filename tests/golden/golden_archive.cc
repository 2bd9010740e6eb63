#include "golden_archive.h"

#include <zlib.h>

#include <charconv>
#include <fstream>
#include <iterator>

#include "omnigraph/store/memory_store.h"

namespace omnigraph::testing {
namespace {

constexpr size_t kBlock = 512;

Result<std::string> Unzip(const std::string& zipped, const std::string& name) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 32) != Z_OK) {
    return Internal("golden.zlib", "cannot start zlib");
  }
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
  stream.avail_in = static_cast<uInt>(zipped.size());
  std::string out;
  std::string block(1 << 16, '\0');
  int code = Z_OK;
  while (code == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    code = inflate(&stream, Z_NO_FLUSH);
    out.append(block.data(), block.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END) {
    return Corruption("golden.zlib", "cannot unzip", name);
  }
  return out;
}

std::string Text(const std::string& header, size_t at, size_t size) {
  const std::string field = header.substr(at, size);
  return field.substr(0, field.find('\0'));
}

size_t Octal(const std::string& text) {
  size_t value = 0;
  const size_t begin = text.find_first_not_of(' ');
  if (begin != std::string::npos) {
    std::from_chars(text.data() + begin, text.data() + text.size(), value, 8);
  }
  return value;
}

/// The `path` record of a pax header, or empty.
std::string PaxPath(const std::string& body) {
  const size_t at = body.find(" path=");
  return at == std::string::npos ? "" : body.substr(at + 6, body.find('\n', at) - at - 6);
}

}  // namespace

Result<std::map<std::string, std::string>> ReadGoldenArchive(const std::string& name) {
  std::ifstream file(std::string(OMNIGRAPH_GOLDEN_DIR) + "/" + name + ".tar.gz", std::ios::binary);
  if (!file) {
    return NotFound("golden.absent", "no golden archive " + name);
  }
  const std::string zipped((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  OG_ASSIGN_OR_RETURN(const std::string tar, Unzip(zipped, name));
  std::map<std::string, std::string> files;
  std::string long_path;
  for (size_t at = 0; at + kBlock <= tar.size();) {
    const std::string header = tar.substr(at, kBlock);
    if (header[0] == '\0') {
      break;
    }
    const size_t size = Octal(Text(header, 124, 12));
    const char type = header[156];
    const std::string body = tar.substr(at + kBlock, size);
    std::string path = Text(header, 0, 100);
    if (header.compare(257, 5, "ustar") == 0 && header[345] != '\0' && header[262] == '\0') {
      path = Text(header, 345, 155) + "/" + path;
    }
    if (type == 'x') {
      long_path = PaxPath(body);
    } else if (type == 'L') {
      long_path = body.substr(0, body.find('\0'));
    } else {
      if (!long_path.empty()) {
        path = long_path;
        long_path.clear();
      }
      if (type == '0' || type == '\0') {
        files[path.starts_with("./") ? path.substr(2) : path] = body;
      }
    }
    at += kBlock + (size + kBlock - 1) / kBlock * kBlock;
  }
  return files;
}

Result<std::shared_ptr<store::ObjectStore>> OpenGoldenArchive(const std::string& name) {
  OG_ASSIGN_OR_RETURN(const auto files, ReadGoldenArchive(name));
  auto memory = std::make_shared<store::MemoryStore>();
  for (const auto& [path, bytes] : files) {
    OG_RETURN_NOT_OK(memory->Put(path, store::BytesOf(bytes)));
  }
  return memory;
}

}  // namespace omnigraph::testing
