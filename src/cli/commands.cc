#include "commands.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <string_view>

#include "input.h"
#include "omnigraph/engine/engine.h"
#include "omnigraph/engine/json.h"
#include "options.h"
#include "progress.h"
#include "render.h"
#include "target.h"

#ifndef OMNIGRAPH_VERSION
#error "the build defines OMNIGRAPH_VERSION"
#endif

namespace omnigraph::cli {
namespace json = boost::json;
namespace {

constexpr size_t kSchemaBytesMax = size_t{4} << 20;
constexpr int kSomeLinesRefused = 1;

/// Everything that the command line can set, and what it chose to run.
struct Program {
  GlobalOptions global;
  std::string positional_store;
  std::string schema_file;
  LoadArguments load;
  IngestArguments ingest;
  RejectsArguments rejects;
  RepairArguments repair;
  QueryArguments query;
  std::vector<std::string> export_types;
  int64_t commit_limit = 20;
  std::function<Result<int>(Program&)> run;
};

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void PrintJson(const json::value& value) {
  Print(engine::Serialize(value) + "\n");
}

/// Errors: kUnavailable (`cli.output`) where something printed did not get out.
Status FlushOutput() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) {
    return Status::OK();
  }
  return Unavailable("cli.output",
                     "standard output does not take more; what was printed is not whole");
}

Result<std::shared_ptr<engine::Engine>> OpenEngine(const Program& program) {
  if (!program.global.server.empty()) {
    return Unsupported(
        "cli.not_on_server",
        "this command works on a graph opened here: give --store PATH instead of --server");
  }
  if (program.global.store.empty()) {
    return Invalid("cli.no_graph", "which graph? Give --store PATH");
  }
  engine::EngineOptions options;
  options.actor = program.global.actor;
  return engine::Engine::Open(program.global.store, std::move(options));
}

Result<int> RunInit(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(program.schema_file, kSchemaBytesMax));
  const Status made = engine::Engine::Init(program.global.store, text, program.global.actor);
  if (!made.ok()) {
    const bool in_schema = CodeOf(made).starts_with("schema.");
    return in_schema ? WithPlace(made, Place{.object = program.schema_file}) : made;
  }
  if (program.global.json) {
    PrintJson(json::object{{"uri", program.global.store}, {"branch", "main"}});
  } else {
    Print("Created the graph " + program.global.store + "\n");
  }
  return 0;
}

Result<int> RunLoad(Program& program) {
  write::LoadOptions options;
  OG_ASSIGN_OR_RETURN(options.mode, write::ParseLoadMode(program.load.mode));
  Progress progress(!program.global.quiet && !program.global.json);
  options.progress = [&progress](const write::LoadProgress& so_far) {
    if (progress.Due()) {
      progress.Show(ProgressFigures{so_far.rows, -1, -1, -1});
    }
  };
  HandleInterrupts();
  Input input({program.load.file});
  OG_RETURN_NOT_OK(input.Check());
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<engine::Engine> engine, OpenEngine(program));
  Result<write::LoadReport> loaded = engine->Load(&input, options);
  progress.Clear();
  OG_ASSIGN_OR_RETURN(const write::LoadReport report, std::move(loaded));
  const json::object out = engine::ToJson(report, options.mode);
  if (program.global.json) {
    PrintJson(out);
  } else {
    Print(RenderLoad(out));
  }
  return report.error_count > 0 ? ErrorKindInfo(ErrorKind::kInvalid).exit_code : 0;
}

/// Prints why a stream ended early, after its summary.
int ReportEarlyEnd(const json::object& out) {
  const json::object& ended = out.at("ended_by").as_object();
  const json::value* code = out.if_contains("exit_code");
  std::fprintf(stderr, "omnigraph: stopped early: %s\n",
               std::string(ended.at("error").as_string()).c_str());
  return code == nullptr ? ErrorKindInfo(ErrorKind::kInternal).exit_code
                         : static_cast<int>(code->to_number<int64_t>());
}

Result<int> RunIngestStream(Program& program) {
  if (!program.ingest.stream) {
    return Invalid("cli.ingest_needs_stream",
                   "say `omnigraph ingest --stream FILE` to stream rows with an ack for each, or "
                   "`omnigraph load --mode MODE --data FILE` to "
                   "load a file as one commit");
  }
  HandleInterrupts();
  Input input(program.ingest.files);
  OG_RETURN_NOT_OK(input.Check());
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<Target> target, OpenTarget(program.global));
  Progress progress(!program.global.quiet && !program.global.json);
  OG_ASSIGN_OR_RETURN(const json::object out,
                      target->IngestStream(program.ingest, &input, &progress));
  if (program.global.json) {
    PrintJson(out);
  } else {
    Print(RenderIngest(out));
  }
  if (out.contains("ended_by")) {
    return ReportEarlyEnd(out);
  }
  const bool partial = out.at("refused").to_number<int64_t>() +
                           out.at("failed").to_number<int64_t>() +
                           out.at("unknown").to_number<int64_t>() >
                       0;
  return partial ? kSomeLinesRefused : 0;
}

Result<int> RunIngestFold(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<Target> target, OpenTarget(program.global));
  OG_ASSIGN_OR_RETURN(const json::object out, target->Fold());
  program.global.json ? PrintJson(out) : Print(RenderFold(out));
  return 0;
}

Result<int> RunIngestStatus(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<Target> target, OpenTarget(program.global));
  OG_ASSIGN_OR_RETURN(const json::object out, target->IngestStatus());
  program.global.json ? PrintJson(out) : Print(RenderStatus(out));
  return 0;
}

Result<int> RunIngestRepair(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<engine::Engine> engine, OpenEngine(program));
  OG_ASSIGN_OR_RETURN(const graph::LogRepair repair,
                      engine->RepairLog(program.repair.type, program.repair.accept_loss));
  const json::object out{
      {"type", program.repair.type}, {"position", repair.position}, {"copy", repair.copy}};
  program.global.json
      ? PrintJson(out)
      : Print(fmt::format("replaced position {} in the log of {}; its bytes are kept in {}\n",
                          repair.position, program.repair.type, repair.copy));
  return 0;
}

Result<int> RunRejectsList(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<engine::Engine> engine, OpenEngine(program));
  if (program.rejects.by_reason) {
    OG_ASSIGN_OR_RETURN(const auto counts, engine->CountRejects());
    const json::object out = engine::CountsToJson(counts);
    program.global.json ? PrintJson(json::object{{"open_rejects_by_code", out}})
                        : Print(RenderCounts(out));
    return 0;
  }
  graph::RejectFilter filter;
  filter.type = program.rejects.type;
  filter.code = program.rejects.code;
  filter.limit = program.rejects.limit;
  OG_ASSIGN_OR_RETURN(const std::vector<graph::Reject> rejects, engine->Rejects(filter));
  json::array out;
  for (const graph::Reject& reject : rejects) {
    out.emplace_back(engine::ToJson(reject));
  }
  program.global.json ? PrintJson(json::object{{"rejects", out}}) : Print(RenderRejects(out));
  return 0;
}

Result<int> RunExport(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<engine::Engine> engine, OpenEngine(program));
  OG_RETURN_NOT_OK(engine->Export(program.export_types, [](std::string_view text) -> Status {
    Print(text);
    return std::ferror(stdout) == 0 ? Status::OK() : FlushOutput();
  }));
  return 0;
}

Result<int> RunCommitList(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<engine::Engine> engine, OpenEngine(program));
  OG_ASSIGN_OR_RETURN(const std::vector<graph::CommitRecord> commits,
                      engine->Commits(program.commit_limit));
  json::array out;
  for (const graph::CommitRecord& commit : commits) {
    out.emplace_back(engine::ToJson(commit));
  }
  program.global.json ? PrintJson(json::object{{"commits", out}}) : Print(RenderCommits(out));
  return 0;
}

Result<int> RunSchemaShow(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<engine::Engine> engine, OpenEngine(program));
  OG_ASSIGN_OR_RETURN(const std::string text, engine->SchemaText());
  program.global.json ? PrintJson(json::object{{"schema_source", text}}) : Print(text);
  return 0;
}

Result<int> RunTableList(Program& program) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<engine::Engine> engine, OpenEngine(program));
  OG_ASSIGN_OR_RETURN(const std::vector<engine::TableInfo> tables, engine->Tables());
  json::array out;
  for (const engine::TableInfo& table : tables) {
    out.emplace_back(engine::ToJson(table));
  }
  program.global.json ? PrintJson(json::object{{"tables", out}}) : Print(RenderTables(out));
  return 0;
}

Result<int> RunQuery(Program& program) {
  if (program.global.json) {
    program.query.format = "json";
  }
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<Target> target, OpenTarget(program.global));
  Result<std::string> text = target->Query(program.query);
  if (!text.ok()) {
    return program.query.file.empty()
               ? text.status()
               : WithPlace(text.status(), Place{.object = program.query.file});
  }
  Print(*text);
  return 0;
}

Result<int> RunVersion(Program& program) {
  if (program.global.json) {
    PrintJson(json::object{{"version", OMNIGRAPH_VERSION}});
  } else {
    Print("omnigraph " OMNIGRAPH_VERSION "\n");
  }
  return 0;
}

CLI::App* Command(CLI::App* parent, Program* program, const char* name, const char* help,
                  Result<int> (*run)(Program&)) {
  CLI::App* command = parent->add_subcommand(name, help);
  command->fallthrough();
  command->callback([program, run] {
    if (!program->run) {
      program->run = run;
    }
  });
  return command;
}

void DeclareGlobal(CLI::App* app, Program* program) {
  app->add_option("--store", program->global.store, "the graph's folder (a path or file: URI)");
  app->add_option("--server", program->global.server,
                  "URL of an omnigraph-server, for ingest, fold, status and query");
  app->add_option("--graph", program->global.graph,
                  "which graph of the server; not needed where it has one");
  app->add_option("--as", program->global.actor,
                  "who commits or streams, as the history will say; not with --server");
  app->add_flag("--json", program->global.json, "print one JSON value, errors included");
  app->add_flag("--quiet", program->global.quiet, "no progress line");
}

void DeclareWrites(CLI::App* app, Program* program) {
  CLI::App* init = Command(app, program, "init", "create a graph from a schema", RunInit);
  init->add_option("URI", program->positional_store, "folder of the new graph")->type_name("");
  init->add_option("--schema", program->schema_file, "the .pg file")->required();

  CLI::App* load =
      Command(app, program, "load", "load an NDJSON file as one commit, all or nothing", RunLoad);
  load->add_option("URI", program->positional_store, "folder of the graph")->type_name("");
  load->add_option("--data", program->load.file, "the file; - for standard input")->required();
  load->add_option("--mode", program->load.mode,
                   "append: new ids only; merge: replace rows of the same id; overwrite: types in "
                   "the file lose their other rows")
      ->required()
      ->check(CLI::IsMember({"append", "merge", "overwrite"}));

  CLI::App* ingest =
      Command(app, program, "ingest",
              "stream NDJSON rows: each is acknowledged once durable, and folded in the background",
              RunIngestStream);
  ingest->add_option("FILE", program->ingest.files, "files of NDJSON; - or none: standard input")
      ->type_name("");
  ingest->add_flag("--stream", program->ingest.stream,
                   "stream (required, so that nobody streams by mistake)");
  ingest->add_flag("--no-fold", program->ingest.no_fold,
                   "do not wait at the end until everything is visible");
  ingest->add_flag("--stop-on-error", program->ingest.stop_on_error,
                   "stop at the first refused line; lines before it stay acked");
  ingest->footer(
      "A refused line harms no other; the exit code is then 1.\n"
      "Ctrl-C stops after the rows in flight and says what was acked.\n"
      "Example: omnigraph ingest --stream rows.ndjson --store my.omni");
  Command(ingest, program, "fold", "fold what is acked into one commit now", RunIngestFold);
  Command(ingest, program, "status", "acked, visible, rejected and pending rows by type",
          RunIngestStatus);
  CLI::App* repair = Command(ingest, program, "repair",
                             "replace the last entry of a log that is not whole", RunIngestRepair);
  repair->add_option("--type", program->repair.type, "the type whose log is broken")->required();
  repair->add_flag("--accept-loss", program->repair.accept_loss,
                   "also where its rows may have been acknowledged: they are lost");
  repair->footer("A copy of the entry is kept beside the log. No other process may own the log.");
  CLI::App* rejects =
      ingest->add_subcommand("rejects", "rows that were acked and that a fold had to refuse");
  rejects->fallthrough()->require_subcommand(1);
  CLI::App* list =
      Command(rejects, program, "list", "list rejected rows, newest first", RunRejectsList);
  list->add_flag("--by-reason", program->rejects.by_reason, "count them by reason instead");
  list->add_option("--type", program->rejects.type, "only rows of this type");
  list->add_option("--code", program->rejects.code, "only rows with this reason");
  list->add_option("--limit", program->rejects.limit, "at most so many")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

void DeclareReads(CLI::App* app, Program* program) {
  CLI::App* query =
      Command(app, program, "query", "run a query of a .gq file, or given by -e", RunQuery);
  query
      ->add_option("NAME", program->query.name,
                   "which query of the file; not needed where it has one")
      ->type_name("");
  query->add_option("--query", program->query.file, "the .gq file");
  query->add_option("-e,--query-string", program->query.text, "the query itself");
  query->add_option("--params", program->query.params, "parameters as a JSON object")
      ->type_name("JSON");
  query->add_option("--params-file", program->query.params_file, "the same, from a file");
  query->add_option("--format", program->query.format, "table, json, jsonl, csv or kv")
      ->capture_default_str()
      ->check(CLI::IsMember({"table", "json", "jsonl", "csv", "kv"}));
  query->footer(
      "Example: omnigraph query -e 'query q() { match { $p: Person } return { count($p) as n } }' "
      "--store my.omni");

  CLI::App* exported =
      Command(app, program, "export", "print every row as NDJSON, nodes before edges", RunExport);
  exported->add_option("URI", program->positional_store, "folder of the graph")->type_name("");
  exported->add_option("--type", program->export_types, "only these types (repeatable)");

  CLI::App* commit = app->add_subcommand("commit", "the graph's history");
  commit->fallthrough()->require_subcommand(1);
  CLI::App* commits = Command(commit, program, "list", "list commits, newest first", RunCommitList);
  commits->add_option("--limit", program->commit_limit, "at most so many")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);

  CLI::App* schema = app->add_subcommand("schema", "the graph's schema");
  schema->fallthrough()->require_subcommand(1);
  Command(schema, program, "show", "print the schema's text", RunSchemaShow);

  CLI::App* table = app->add_subcommand("table", "the Lance tables of the graph");
  table->fallthrough()->require_subcommand(1);
  Command(table, program, "list", "which type stands in which folder", RunTableList);

  Command(app, program, "version", "print the version", RunVersion);
}

void PrintError(const Status& status) {
  std::fprintf(stderr, "omnigraph: %s%s\n", engine::PlacePrefix(status).c_str(),
               status.message().c_str());
  const ErrorDetail* detail = GetErrorDetail(status);
  if (detail != nullptr && detail->effect_unknown()) {
    std::fprintf(
        stderr,
        "omnigraph: the store did not say whether this took effect; look before you try again\n");
  }
}

int ReportError(bool as_json, const Status& status) {
  if (as_json) {
    PrintJson(engine::ErrorToJson(status));
  }
  if (!FlushOutput().ok() || !as_json) {
    PrintError(status);
  }
  return ErrorKindInfo(KindOf(status)).exit_code;
}

/// A command that did its work and could not say so has not succeeded.
int ReportOutput(int code) {
  const Status flushed = FlushOutput();
  if (flushed.ok()) {
    return code;
  }
  PrintError(flushed);
  return code > kSomeLinesRefused ? code : ErrorKindInfo(KindOf(flushed)).exit_code;
}

/// Of a command line that cannot be read: whether it asks for JSON.
bool AsksForJson(int argc, char** argv) {
  return std::any_of(argv, argv + argc,
                     [](std::string_view argument) { return argument == "--json"; });
}

}  // namespace

int RunProgram(int argc, char** argv) {
  Program program;
  CLI::App app("OmniGraph: a typed property graph on Lance tables, with durable streaming ingest.",
               "omnigraph");
  app.require_subcommand(1);
  app.footer(
      "First steps:\n"
      "  omnigraph init my.omni --schema my.pg\n"
      "  omnigraph ingest --stream rows.ndjson --store my.omni\n"
      "  omnigraph query -e 'query q() { match { $p: Person } return { count($p) as n } }' --store "
      "my.omni\n"
      "`omnigraph COMMAND --help` explains a command. Exit codes: 0 done, 1 done but some lines "
      "were refused, 2 wrong input,\n"
      "3 not found or exists already, 4 conflict, 5 another process owns the stream, 6 try again "
      "later, 7 corrupt bytes.");
  DeclareGlobal(&app, &program);
  DeclareWrites(&app, &program);
  DeclareReads(&app, &program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && AsksForJson(argc, argv)) {
      return ReportError(true, Invalid("cli.usage", error.what()));
    }
    return app.exit(error) == 0 ? ReportOutput(0) : ErrorKindInfo(ErrorKind::kInvalid).exit_code;
  }
  if (!program.positional_store.empty()) {
    if (!program.global.store.empty()) {
      return ReportError(program.global.json,
                         Invalid("cli.two_graphs",
                                 "the graph is given twice: by --store and by a positional URI"));
    }
    program.global.store = program.positional_store;
  }
  if (program.global.store.starts_with("http://") || program.global.store.starts_with("https://")) {
    return ReportError(
        program.global.json,
        Invalid("cli.store_is_url",
                "'" + program.global.store + "' is a server's address: give it by --server"));
  }
  const Result<int> code = program.run(program);
  return code.ok() ? ReportOutput(*code) : ReportError(program.global.json, code.status());
}

Result<std::unique_ptr<Target>> OpenTarget(const GlobalOptions& global) {
  if (global.store.empty() == global.server.empty()) {
    return global.store.empty()
               ? Invalid("cli.no_graph", "which graph? Give --store PATH, or --server URL")
               : Invalid("cli.two_graphs", "give --store or --server, not both");
  }
  if (!global.server.empty() && !global.actor.empty()) {
    return Unsupported("cli.actor_on_server",
                       "a server does not take --as: who writes through it is for it to know");
  }
  return global.server.empty() ? OpenLocalTarget(global) : OpenServerTarget(global);
}

}  // namespace omnigraph::cli
