// The log of a shard: claim, put, fold, advance and collect, by two processes that may stall or
// crash anywhere, with puts that are lost, land unanswered, or land late. Every interleaving of
// three claims and two rows. With all rules the invariants hold in every state; with any one of S1,
// S2, S3, S4, S5, S8 taken out the search finds a schedule that breaks them.
//
// Where it is coarser than the code: a fold and a look at the newest manifest are one step (W2 and
// C5 are checked elsewhere), takeover is allowed at any time (S9 only makes it rare), and a power
// cut is not modelled (P2 is checked by the store).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "model_search.h"

namespace omnigraph::lance::testing {
namespace {

constexpr int kProcesses = 2;
constexpr int kRows = 2;
constexpr uint8_t kClaims = 3;
constexpr int kPositions = 9;  // 1 ... 8; 0 is unused
constexpr int kVersions = 7;   // 1 ... 6; 0 is unused
constexpr int kLate = 2;

struct Rules {
  bool s1_walk_above_replay_after =
      true;                   // the walk starts above `replay_after` of the claim's manifest
  bool s2_claim_id = true;    // a claim is told from another of the same epoch
  bool s3_sentinel = true;    // a sentinel at the tip
  bool s3_look_again = true;  // the newest manifest once more, after it
  bool s4_bound = true;       // a position is bound to its bytes until settled
  bool s4_doubt = true;  // "surely not written" only where an unanswered put was never collected
  bool s4_compare_bytes = true;       // settled by our bytes, not by our epoch
  bool s5_keep_sentinels = true;      // collection leaves sentinels
  bool s5_below_replay_after = true;  // and stays below `replay_after` too
  bool s8_owner_only = true;          // only the owner moves `replay_after`
};

enum CellKind : uint8_t { kAbsent, kSentinel, kData };

struct Cell {
  uint8_t kind;
  uint8_t epoch;
  uint8_t claim;  // sentinels: whose
  uint8_t rows;   // data: bits
  bool operator==(const Cell&) const = default;
};

struct Manifest {
  uint8_t epoch;
  uint8_t claim;
  uint8_t replay_after;
  bool operator==(const Manifest&) const = default;
};

// A put whose answer never came and that has not landed yet.
struct LatePut {
  uint8_t position;  // of the log, or 0
  uint8_t version;   // of the manifest, or 0
  Cell cell;
  Manifest manifest;
};

enum Pc : uint8_t {
  kIdle,
  kPutClaim,
  kSettleClaim,
  kWalk,
  kPutSentinel,
  kSettleSentinel,
  kLookAgain,
  kOpen,
  kPutRows,
  kSettleRows,
  kPutAdvance,
};

struct Process {
  uint8_t pc;
  uint8_t epoch;
  uint8_t claim;
  uint8_t version;  // of the manifest that it puts or put
  uint8_t replay_after;
  uint8_t position;  // walking, or the next one
  uint8_t sentinel;  // where its sentinel stands: what is below was replayed
  uint8_t rows;      // in flight
  uint8_t doubt;     // the first position at which a put of these rows went unanswered, or 0
  bool operator==(const Process&) const = default;
};

enum RowState : uint8_t { kUnsent, kInFlight, kAcked, kUnknown, kRefused };

struct World {
  std::array<Cell, kPositions> log;
  std::array<Cell, kPositions> first;  // what a position held first
  std::array<Manifest, kVersions> manifests;
  std::array<LatePut, kLate> late;
  std::array<Process, kProcesses> processes;
  std::array<uint8_t, kRows> rows;
  std::array<uint8_t, kRows> applied;
  uint8_t published;
  uint8_t claims_left;
  uint8_t next_claim;
  uint8_t faults_left;
  uint8_t advances_left;
};

uint8_t NewestVersion(const World& world) {
  uint8_t version = 0;
  while (version + 1 < kVersions && world.manifests[version + 1].epoch != 0) {
    ++version;
  }
  return version;
}

// The invariants that a state shows by itself.
const char* CheckWorld(const World& world) {
  uint8_t readable = 0;  // rows in the entries that a fold would read
  for (int position = world.published + 1;
       position < kPositions && world.log[position].kind != kAbsent; ++position) {
    readable = static_cast<uint8_t>(readable | world.log[position].rows);
  }
  for (int row = 0; row < kRows; ++row) {
    if (world.applied[row] > 1) {
      return "a row was applied twice";
    }
    if (world.rows[row] == kAcked && world.applied[row] == 0 && (readable >> row & 1) == 0) {
      return "an acked row was lost";
    }
    if (world.rows[row] == kRefused && world.applied[row] != 0) {
      return "a row that was surely not written was applied";
    }
  }
  return nullptr;
}

class Model {
 public:
  explicit Model(Rules rules) : rules_(rules) {}

  void Expand(const World& world, std::vector<Step<World>>* steps) const {
    for (int p = 0; p < kProcesses; ++p) {
      Run(world, p, steps);
      Crash(world, p, steps);
      Advance(world, p, steps);
    }
    Land(world, steps);
    Fold(world, steps);
    Collect(world, steps);
  }

 private:
  using Steps = std::vector<Step<World>>;

  static void Add(const World& next, const char* action, int actor, Steps* steps,
                  const char* violation = nullptr) {
    World canonical = next;
    // The two processes are alike: one order of them is enough.
    if (Less(canonical.processes[1], canonical.processes[0])) {
      std::swap(canonical.processes[0], canonical.processes[1]);
    }
    steps->push_back({canonical, action, actor, violation});
  }

  static bool Less(const Process& a, const Process& b) {
    return std::memcmp(&a, &b, sizeof(Process)) < 0;
  }

  // The three ways in which a put that may take effect ends, and the one in which it does not.
  template <typename Land, typename Answered, typename Unanswered>
  static void PutOutcomes(const World& world, int p, const char* what, LatePut late, bool absent,
                          Land land, Answered answered, Unanswered unanswered, Steps* steps) {
    if (!absent) {
      World next = world;
      unanswered(&next, false);  // "exists" is no verdict either (P4), but it had no effect
      Add(next, what, p, steps);
      return;
    }
    {
      World next = world;
      const char* violation = land(&next);
      const char* broken = answered(&next);
      Add(next, what, p, steps, violation != nullptr ? violation : broken);
    }
    if (world.faults_left == 0) {
      return;
    }
    {
      World next = world;
      --next.faults_left;
      const char* violation = land(&next);
      unanswered(&next, true);
      Add(next, "puts, lands, gets no answer", p, steps, violation);
    }
    World next = world;
    --next.faults_left;
    unanswered(&next, true);
    Add(next, "puts without effect, gets no answer", p, steps);
    for (LatePut& slot : next.late) {
      if (slot.position == 0 && slot.version == 0) {
        slot = late;
        Add(next, "puts, it will land late", p, steps);
        break;
      }
    }
  }

  static const char* Stand(World* world, uint8_t position, const Cell& cell) {
    // Two things may come back to a collected position, below every bound, where nobody reads: the
    // same bytes again (a put that was repeated, and whose first try lands late), and the sentinel
    // of a claimant that was overtaken meanwhile.
    Cell& first = world->first[position];
    const bool reused = cell.kind == kData && first.kind != kAbsent && first != cell;
    first = first.kind == kAbsent ? cell : first;
    world->log[position] = cell;
    return reused ? "rows stand at a position that was used before" : nullptr;
  }

  void Run(const World& world, int p, Steps* steps) const {
    World next = world;
    Process& process = next.processes[p];
    switch (process.pc) {
      case kIdle:
        StartClaim(world, p, steps);
        return;
      case kPutClaim:
        PutClaim(world, p, steps);
        return;
      case kSettleClaim:
        SettleClaim(world, p, steps);
        return;
      case kWalk:
        if (process.position + 1 >= kPositions) {
          return;
        }
        if (world.log[process.position].kind != kAbsent) {
          ++process.position;
          Add(next, "walks on", p, steps);
        } else {
          process.pc = rules_.s3_sentinel ? kPutSentinel : kLookAgain;
          process.sentinel = rules_.s3_sentinel ? process.sentinel : process.position;
          Add(next, "finds the tip", p, steps);
        }
        return;
      case kPutSentinel:
        PutSentinel(world, p, steps);
        return;
      case kSettleSentinel:
        SettleSentinel(world, p, steps);
        return;
      case kLookAgain:
        LookAgain(world, p, steps);
        return;
      case kOpen:
        TakeRows(world, p, steps);
        return;
      case kPutRows:
        PutRows(world, p, steps);
        return;
      case kSettleRows:
        SettleRows(world, p, steps);
        return;
      default:
        return;
    }
  }

  // Claim: what the newest manifest says, with epoch + 1 and a claim id of its own.
  void StartClaim(const World& world, int p, Steps* steps) const {
    const uint8_t newest = NewestVersion(world);
    if (world.claims_left == 0 || newest + 1 >= kVersions) {
      return;
    }
    World next = world;
    --next.claims_left;
    const uint8_t claim = rules_.s2_claim_id ? next.next_claim++ : 1;
    next.processes[p] = {.pc = kPutClaim,
                         .epoch = static_cast<uint8_t>(world.manifests[newest].epoch + 1),
                         .claim = claim,
                         .version = static_cast<uint8_t>(newest + 1),
                         .replay_after = world.manifests[newest].replay_after,
                         .position = 0,
                         .sentinel = 0,
                         .rows = 0,
                         .doubt = 0};
    Add(next, "looks at the manifest to claim", p, steps);
  }

  static Manifest ClaimOf(const Process& process) {
    return {process.epoch, process.claim, process.replay_after};
  }

  void BeginWalk(Process* process) const {
    process->pc = kWalk;
    process->position =
        rules_.s1_walk_above_replay_after ? static_cast<uint8_t>(process->replay_after + 1) : 1;
  }

  void PutClaim(const World& world, int p, Steps* steps) const {
    const Process& process = world.processes[p];
    const uint8_t version = process.version;
    const Manifest manifest = ClaimOf(process);
    PutOutcomes(
        world, p, "puts its claim",
        {.position = 0, .version = version, .cell = {}, .manifest = manifest},
        world.manifests[version].epoch == 0,
        [&](World* next) -> const char* {
          next->manifests[version] = manifest;
          return nullptr;
        },
        [&](World* next) -> const char* {
          BeginWalk(&next->processes[p]);
          return nullptr;
        },
        [&](World* next, bool) { next->processes[p].pc = kSettleClaim; }, steps);
  }

  void SettleClaim(const World& world, int p, Steps* steps) const {
    World next = world;
    Process& process = next.processes[p];
    const Manifest& stands = world.manifests[process.version];
    if (stands.epoch == 0) {
      process.pc = kPutClaim;
      Add(next, "finds its claim absent", p, steps);
    } else if (stands == ClaimOf(process)) {
      BeginWalk(&process);
      Add(next, "finds its claim", p, steps);
    } else {
      process = {};
      Add(next, "finds another's manifest, gives up", p, steps);
    }
  }

  void PutSentinel(const World& world, int p, Steps* steps) const {
    const Process& process = world.processes[p];
    const uint8_t position = process.position;
    const Cell cell = {kSentinel, process.epoch, process.claim, 0};
    PutOutcomes(
        world, p, "puts its sentinel",
        {.position = position, .version = 0, .cell = cell, .manifest = {}},
        world.log[position].kind == kAbsent,
        [&](World* next) { return Stand(next, position, cell); },
        [&](World* next) -> const char* {
          SentinelStands(&next->processes[p]);
          return nullptr;
        },
        [&](World* next, bool) { next->processes[p].pc = kSettleSentinel; }, steps);
  }

  static void SentinelStands(Process* process) {
    process->pc = kLookAgain;
    process->sentinel = process->position;
    ++process->position;
  }

  void SettleSentinel(const World& world, int p, Steps* steps) const {
    World next = world;
    Process& process = next.processes[p];
    const Cell& stands = world.log[process.position];
    const Cell ours = {kSentinel, process.epoch, process.claim, 0};
    if (process.position + 1 >= kPositions) {
      return;
    }
    if (stands.kind == kAbsent) {
      process.pc = kPutSentinel;
      Add(next, "finds its sentinel absent", p, steps);
    } else if (stands == ours) {
      SentinelStands(&process);
      Add(next, "finds its sentinel", p, steps);
    } else if (stands.epoch > process.epoch) {
      process = {};
      Add(next, "finds a higher epoch, gives up", p, steps);
    } else {
      ++process.position;
      process.pc = kPutSentinel;
      Add(next, "finds the position taken", p, steps);
    }
  }

  void LookAgain(const World& world, int p, Steps* steps) const {
    World next = world;
    Process& process = next.processes[p];
    const Manifest& newest = world.manifests[NewestVersion(world)];
    if (rules_.s3_look_again && (newest.epoch != process.epoch || newest.claim != process.claim)) {
      process = {};
      Add(next, "was overtaken, gives up", p, steps);
    } else {
      process.pc = kOpen;
      const Cell ours = {kSentinel, process.epoch, process.claim, 0};
      const bool reused = rules_.s3_sentinel && world.first[process.sentinel] != ours;
      Add(next, "owns the shard", p, steps,
          reused ? "an owner's sentinel stands at a position that was used before" : nullptr);
    }
  }

  // Rows come one by one, to whoever owns the shard.
  static void TakeRows(const World& world, int p, Steps* steps) {
    for (int row = 0; row < kRows; ++row) {
      if (world.rows[row] == kUnsent && world.processes[p].position + 1 < kPositions) {
        World next = world;
        next.rows[row] = kInFlight;
        next.processes[p].rows = static_cast<uint8_t>(1U << row);
        next.processes[p].pc = kPutRows;
        Add(next, "takes a row", p, steps);
        return;
      }
    }
  }

  static void SetRows(World* world, uint8_t rows, RowState state) {
    for (int row = 0; row < kRows; ++row) {
      if ((rows >> row & 1) != 0) {
        world->rows[row] = state;
      }
    }
  }

  // An ack at a position that another owner, of no older epoch, believes to have replayed past or
  // never to see.
  static const char* Ack(World* world, int p) {
    Process& process = world->processes[p];
    SetRows(world, process.rows, kAcked);
    process.rows = 0;
    process.doubt = 0;
    const uint8_t position = process.position++;
    process.pc = kOpen;
    const Process& other = world->processes[1 - p];
    const bool other_owns = other.pc == kOpen || other.pc == kPutRows || other.pc == kSettleRows ||
                            other.pc == kPutAdvance;
    return other_owns && other.epoch >= process.epoch && position >= other.sentinel
               ? "a deposed owner acked a row"
               : nullptr;
  }

  void PutRows(const World& world, int p, Steps* steps) const {
    const Process& process = world.processes[p];
    const uint8_t position = process.position;
    const Cell cell = {kData, process.epoch, 0, process.rows};
    PutOutcomes(
        world, p, "puts its rows",
        {.position = position, .version = 0, .cell = cell, .manifest = {}},
        world.log[position].kind == kAbsent,
        [&](World* next) { return Stand(next, position, cell); },
        [&](World* next) { return Ack(next, p); },
        [&](World* next, bool doubtful) {
          Process& self = next->processes[p];
          self.pc = kSettleRows;
          self.doubt = doubtful && self.doubt == 0 ? position : self.doubt;
        },
        steps);
  }

  void SettleRows(const World& world, int p, Steps* steps) const {
    World next = world;
    Process& process = next.processes[p];
    const Cell& stands = world.log[process.position];
    const Cell ours = {kData, process.epoch, 0, process.rows};
    const bool same = rules_.s4_compare_bytes
                          ? stands == ours
                          : stands.kind == kData && stands.epoch == process.epoch;
    if (stands.kind == kAbsent) {
      process.pc = kPutRows;
      Add(next, "finds its rows absent", p, steps);
      if (!rules_.s4_bound) {
        PutMore(next, p, steps);
      }
    } else if (same) {
      const char* violation = Ack(&next, p);
      Add(next, "finds its rows", p, steps, violation);
    } else if (stands.kind == kSentinel && stands.epoch < process.epoch) {
      ++process.position;
      process.pc = process.position + 1 < kPositions ? kPutRows : kSettleRows;
      Add(next, "steps over a lower sentinel", p, steps);
    } else if (stands.epoch > process.epoch) {
      // Rows of an unanswered put may have been folded and collected, and a late sentinel may stand
      // in their place. Not below `replay_after` means: never collected.
      const uint8_t replay_after = world.manifests[NewestVersion(world)].replay_after;
      const bool doubtful = rules_.s4_doubt && process.doubt != 0 && replay_after > process.doubt;
      SetRows(&next, process.rows, doubtful ? kUnknown : kRefused);
      process = {};
      Add(next, "is fenced", p, steps);
    } else {
      SetRows(&next, process.rows, kUnknown);
      process = {};
      Add(next, "finds another owner's bytes, retires", p, steps);
    }
  }

  // Without S4: what arrived meanwhile joins the batch that is put again.
  static void PutMore(const World& world, int p, Steps* steps) {
    for (int row = 0; row < kRows; ++row) {
      if (world.rows[row] == kUnsent) {
        World next = world;
        next.rows[row] = kInFlight;
        next.processes[p].rows = static_cast<uint8_t>(next.processes[p].rows | (1U << row));
        Add(next, "puts a larger batch at the same position", p, steps);
        return;
      }
    }
  }

  static void Crash(const World& world, int p, Steps* steps) {
    if (world.processes[p].pc == kIdle) {
      return;
    }
    World next = world;
    SetRows(&next, next.processes[p].rows, kUnknown);
    next.processes[p] = {};
    Add(next, "crashes", p, steps);
  }

  // S8: under its own epoch, to the published position, in the next version.
  void Advance(const World& world, int p, Steps* steps) const {
    const Process& process = world.processes[p];
    const uint8_t newest = NewestVersion(world);
    const Manifest& manifest = world.manifests[newest];
    if (process.pc == kOpen && world.advances_left > 0 && newest + 1 < kVersions &&
        manifest.replay_after < world.published) {
      const bool owns = manifest.epoch == process.epoch && manifest.claim == process.claim;
      if (owns || !rules_.s8_owner_only) {
        World next = world;
        --next.advances_left;
        next.processes[p].pc = kPutAdvance;
        next.processes[p].version = static_cast<uint8_t>(newest + 1);
        next.processes[p].replay_after = world.published;
        Add(next, "wants to move replay_after", p, steps);
      }
    }
    if (process.pc != kPutAdvance) {
      return;
    }
    const Manifest& base = world.manifests[process.version - 1];
    const Manifest moved = {base.epoch, base.claim, process.replay_after};
    PutOutcomes(
        world, p, "moves replay_after",
        {.position = 0, .version = process.version, .cell = {}, .manifest = moved},
        world.manifests[process.version].epoch == 0,
        [&](World* next) -> const char* {
          next->manifests[process.version] = moved;
          return nullptr;
        },
        [&](World* next) -> const char* {
          next->processes[p].pc = kOpen;
          return nullptr;
        },
        [&](World* next, bool) { next->processes[p].pc = kOpen; }, steps);
  }

  static void Land(const World& world, Steps* steps) {
    for (size_t i = 0; i < world.late.size(); ++i) {
      const LatePut late = world.late[i];
      if (late.position == 0 && late.version == 0) {
        continue;
      }
      World next = world;
      next.late[i] = {};
      const char* violation = nullptr;
      if (late.position != 0 && world.log[late.position].kind == kAbsent) {
        violation = Stand(&next, late.position, late.cell);
      } else if (late.version != 0 && world.manifests[late.version].epoch == 0) {
        next.manifests[late.version] = late.manifest;
      }
      Add(next, "a late put lands", kProcesses, steps, violation);
    }
  }

  // Any process may fold what stands in the log; the publish is the guard (W2).
  static void Fold(const World& world, Steps* steps) {
    World next = world;
    uint8_t position = world.published;
    bool rows = false;
    while (position + 1 < kPositions && world.log[position + 1].kind != kAbsent) {
      ++position;
      for (int row = 0; row < kRows; ++row) {
        if ((world.log[position].rows >> row & 1) != 0) {
          ++next.applied[row];
          rows = true;
        }
      }
    }
    if (rows) {
      next.published = position;
      Add(next, "the log is folded", kProcesses, steps);
    }
  }

  void Collect(const World& world, Steps* steps) const {
    const uint8_t replay_after = world.manifests[NewestVersion(world)].replay_after;
    const uint8_t below =
        rules_.s5_below_replay_after ? std::min(world.published, replay_after) : world.published;
    for (uint8_t position = 1; position < below; ++position) {
      const Cell& cell = world.log[position];
      if (cell.kind == kData || (cell.kind == kSentinel && !rules_.s5_keep_sentinels)) {
        World next = world;
        next.log[position] = {};
        Add(next, "an entry is collected", kProcesses, steps);
        return;
      }
    }
  }

  Rules rules_;
};

// `faults`: puts that are lost, unanswered or late. More find nothing new and take longer.
SearchResult SearchLog(Rules rules, uint8_t faults = 2) {
  const Model model(rules);
  World start = {};
  start.claims_left = kClaims;
  start.next_claim = 1;
  start.faults_left = faults;
  start.advances_left = 2;
  return Search(
      start,
      [&](const World& world, std::vector<Step<World>>* steps) { model.Expand(world, steps); },
      CheckWorld);
}

TEST(LogModel, WithAllRules_HoldsInEveryState) {
  const SearchResult result = SearchLog({});
  EXPECT_EQ(result.violation, "") << Describe(result);
  RecordProperty("states", static_cast<int>(result.states));
}

TEST(LogModel, WithoutS1_Breaks) {
  EXPECT_BREAKS(SearchLog({.s1_walk_above_replay_after = false}));
}

TEST(LogModel, WithoutS2_Breaks) {
  EXPECT_BREAKS(SearchLog({.s2_claim_id = false}));
}

TEST(LogModel, WithoutS3_Breaks) {
  EXPECT_BREAKS(SearchLog({.s3_sentinel = false}));
  EXPECT_BREAKS(SearchLog({.s3_look_again = false}));
}

TEST(LogModel, WithoutS4_Breaks) {
  EXPECT_BREAKS(SearchLog({.s4_bound = false, .s4_compare_bytes = false}));
  EXPECT_BREAKS(SearchLog({.s4_doubt = false}));
}

TEST(LogModel, WithoutS5_Breaks) {
  EXPECT_BREAKS(SearchLog({.s5_keep_sentinels = false}));
  EXPECT_BREAKS(SearchLog({.s5_below_replay_after = false}));
}

TEST(LogModel, WithoutS8_Breaks) {
  EXPECT_BREAKS(SearchLog({.s8_owner_only = false}));
}

}  // namespace
}  // namespace omnigraph::lance::testing
