// NVSHMEM's teams, which are numbers: a table of OpenSHMEM's handles.
#include <array>
#include <atomic>
#include <mutex>

#include "nvshmem/front.hpp"
#include "shmem/checks.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::nvshmem {

using shmem::Call;

namespace {

constexpr int most_teams = 1 << 16;
std::array<std::atomic<shmem_team_t>, most_teams> made;  // by number; null: free
std::mutex numbering;

/// The number of a new team; NVSHMEM_TEAM_INVALID for a PE that is not in it.
nvshmem_team_t number_of(const Call& call, shmem_team_t team) {
    if (team == SHMEM_TEAM_INVALID) return NVSHMEM_TEAM_INVALID;
    const std::lock_guard lock(numbering);
    for (int i = NVSHMEM_TEAMS_MIN; i < most_teams; ++i) {
        std::atomic<shmem_team_t>& entry = made[static_cast<std::size_t>(i)];
        if (entry.load(std::memory_order_relaxed) != nullptr) continue;
        entry.store(team, std::memory_order_release);
        return i;
    }
    shmem::fail(call, std::to_string(most_teams) + " teams are alive; destroy some by nvshmem_team_destroy.");
}

/// Gives a new team its number, and shows it to the modules of kernels.
void show(const Call& call, shmem_team_t created, nvshmem_team_t* team) {
    *team = number_of(call, created);
    shmem::guarded(call, [&] { tell_modules(*team); });
}

thread_local nvshmem_team_t refused_team = NVSHMEM_TEAM_INVALID;  // by the last call that got no team

std::string no_team_text(nvshmem_team_t team) {
    if (team == NVSHMEM_TEAM_INVALID)
        return "NVSHMEM_TEAM_INVALID was passed as a team: this PE is in no such team. Call it on its "
               "members "
               "alone.";
    return "team " + std::to_string(team) +
           " does not exist on this PE. Pass a team that nvshmem_team_split_strided, nvshmem_team_split_2d "
           "or "
           "nvshmemx_team_init made and that was not destroyed, or one of NVSHMEM_TEAM_WORLD, "
           "NVSHMEM_TEAM_SHARED, NVSHMEMX_TEAM_NODE and NVSHMEMX_TEAM_SAME_MYPE_NODE.";
}
[[maybe_unused]] const bool has_words = [] {
    shmem::invalid_team_text = [] { return no_team_text(refused_team); };
    return true;
}();
/// Reports a number without a team, and returns the status; 0 for a team. PEs outside the parent pass
/// NVSHMEM_TEAM_INVALID, which is right.
int check_parent(const Call& call, nvshmem_team_t parent) {
    if (parent == NVSHMEM_TEAM_INVALID || handle(parent) != SHMEM_TEAM_INVALID) return 0;
    return shmem::status(
        call, [&] { throw Error(ErrorCode::invalid_argument, "parent_team: " + no_team_text(parent)); });
}

/// True for a team of this PE. Ends the process before nvshmem_init.
bool is_known(const char* name, nvshmem_team_t team) { return handle(name, team) != SHMEM_TEAM_INVALID; }

shmem_team_config_t config_of(const nvshmem_team_config_t* config) {
    return {config != nullptr && config->num_contexts > 0 ? config->num_contexts : 0};
}

}  // namespace

shmem_team_t handle(nvshmem_team_t team) noexcept {
    switch (team) {
        case NVSHMEM_TEAM_WORLD:
            return SHMEM_TEAM_WORLD;
        case NVSHMEM_TEAM_SHARED:
        case NVSHMEM_TEAM_MC_SHARED:
            return SHMEM_TEAM_SHARED;
        case NVSHMEMX_TEAM_NODE:
            return SHMEMX_TEAM_HOST;
        case NVSHMEMX_TEAM_SAME_MYPE_NODE:
            return SHMEMX_TEAM_RAIL;
        default:
            if (team < NVSHMEM_TEAMS_MIN || team >= most_teams) return SHMEM_TEAM_INVALID;
            return made[static_cast<std::size_t>(team)].load(std::memory_order_acquire);
    }
}

shmem_team_t handle(const char* name, nvshmem_team_t team) {
    shmem::context_of({name, SHMEM_CTX_DEFAULT});
    const shmem_team_t found = handle(team);
    if (found == SHMEM_TEAM_INVALID) [[unlikely]]
        refused_team = team;
    return found;
}

void forget_teams() noexcept {
    for (std::atomic<shmem_team_t>& team : made) team.store(nullptr, std::memory_order_relaxed);
}

int team_my_pe(nvshmem_team_t team) {
    return is_known("nvshmem_team_my_pe", team) ? shmem::team_my_pe(handle(team)) : -1;
}
int team_n_pes(nvshmem_team_t team) {
    return is_known("nvshmem_team_n_pes", team) ? shmem::team_n_pes(handle(team)) : -1;
}

void team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config) {
    if (config == nullptr || !is_known("nvshmem_team_get_config", team)) return;
    shmem_team_config_t found{};
    *config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    if (shmem::team_get_config(handle(team), SHMEM_TEAM_NUM_CONTEXTS, &found) == 0)
        config->num_contexts = found.num_contexts;
}

int team_translate_pe(nvshmem_team_t from, int pe, nvshmem_team_t to) {
    constexpr const char* name = "nvshmem_team_translate_pe";
    return is_known(name, from) && is_known(name, to) ? shmem::team_translate_pe(handle(from), pe, handle(to))
                                                      : -1;
}

int team_get_uniqueid(nvshmemx_team_uniqueid_t* id) {
    return shmem::team_get_unique_id({"nvshmemx_team_get_uniqueid", SHMEM_CTX_DEFAULT}, id);
}

int team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long mask, int n_pes, int my_pe) {
    const Call call{"nvshmemx_team_init", SHMEM_CTX_DEFAULT};
    shmem::require(call, "team", team);
    shmem::require(call, "config", config);
    if ((mask & NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID) == 0)
        shmem::fail(
            call,
            "config_mask lacks NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID; set it, and config->uniqueid to what "
            "nvshmemx_team_get_uniqueid returned on one PE.");
    shmem_team_t created = SHMEM_TEAM_INVALID;
    const shmem_team_config_t wanted = config_of(config);
    const int status = shmem::team_init(call, config->uniqueid, n_pes, my_pe, &wanted,
                                        mask & SHMEM_TEAM_NUM_CONTEXTS, &created);
    show(call, created, team);
    return status;
}

int team_split_strided(nvshmem_team_t parent, int start, int stride, int size,
                       const nvshmem_team_config_t* config, long mask, nvshmem_team_t* team) {
    const Call call{"nvshmem_team_split_strided", SHMEM_CTX_DEFAULT};
    shmem::require(call, "new_team", team);
    if (const int wrong = check_parent(call, parent); wrong != 0) {
        *team = NVSHMEM_TEAM_INVALID;
        return wrong;
    }
    shmem_team_t created = SHMEM_TEAM_INVALID;
    const shmem_team_config_t wanted = config_of(config);
    const int status = shmem::team_split_strided(call, handle(parent), start, stride, size, &wanted,
                                                 mask & SHMEM_TEAM_NUM_CONTEXTS, &created);
    show(call, created, team);
    return status;
}

int team_split_2d(nvshmem_team_t parent, int xrange, const nvshmem_team_config_t* xconfig, long xmask,
                  nvshmem_team_t* xteam, const nvshmem_team_config_t* yconfig, long ymask,
                  nvshmem_team_t* yteam) {
    const Call call{"nvshmem_team_split_2d", SHMEM_CTX_DEFAULT};
    shmem::require(call, "xaxis_team", xteam);
    shmem::require(call, "yaxis_team", yteam);
    if (const int wrong = check_parent(call, parent); wrong != 0) {
        *xteam = *yteam = NVSHMEM_TEAM_INVALID;
        return wrong;
    }
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    const shmem_team_config_t wanted_x = config_of(xconfig), wanted_y = config_of(yconfig);
    const int status =
        shmem::team_split_2d(call, handle(parent), xrange, &wanted_x, xmask & SHMEM_TEAM_NUM_CONTEXTS, &row,
                             &wanted_y, ymask & SHMEM_TEAM_NUM_CONTEXTS, &column);
    *xteam = number_of(call, row);
    *yteam = number_of(call, column);
    shmem::guarded(call, [&] {
        tell_modules(*xteam);
        tell_modules(*yteam);
    });
    return status;
}

void team_destroy(nvshmem_team_t team) {
    const shmem_team_t found = handle(team);
    if (found == SHMEM_TEAM_INVALID) return;
    const bool is_made = team >= NVSHMEM_TEAMS_MIN;
    if (is_made) made[static_cast<std::size_t>(team)].store(nullptr, std::memory_order_release);
    const Call call{"nvshmem_team_destroy", SHMEM_CTX_DEFAULT};
    if (is_made) shmem::guarded(call, [&] { tell_modules(team); });
    shmem::team_destroy(call, found);
}

}  // namespace atl::nvshmem
