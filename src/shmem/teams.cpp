// Teams under OpenSHMEM's names, with its status codes.
#include <mutex>
#include <vector>

#include "core/team/team_state.hpp"
#include "shmem/checks.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::shmem {

namespace {

struct Alive {
    std::mutex mutex;
    std::set<TeamObject*> teams;
};
Alive& alive = *new Alive;  // never destroyed: a program may end with teams alive

void destroy_contexts(TeamObject& object) {
    const std::set<shmem_ctx_t> contexts = object.contexts;
    for (shmem_ctx_t ctx : contexts) ctx_destroy(ctx);
}

int contexts_of(const shmem_team_config_t* config, long mask) {
    return config && (mask & SHMEM_TEAM_NUM_CONTEXTS) ? config->num_contexts : 0;
}

}  // namespace

void open_teams() {
    front.world = new TeamObject{front.job->world(), 0, {}};
    front.shared = new TeamObject{front.job->shared(), 0, {}};
    front.host = new TeamObject{front.job->host(), 0, {}};
    front.rail = new TeamObject{front.job->rail(), 0, {}};
}

void close_teams() {
    std::set<TeamObject*> made;
    {
        const std::lock_guard lock(alive.mutex);
        made.swap(alive.teams);
    }
    for (TeamObject* team : made) {
        destroy_contexts(*team);
        team->team = Team();
        teams.release(team);
    }
    for (TeamObject* team : {front.world, front.shared, front.host, front.rail}) {
        destroy_contexts(*team);
        delete team;
    }
    front.world = front.shared = front.host = front.rail = nullptr;
}

std::string (*invalid_team_text)() = nullptr;

TeamObject& find_team(shmem_team_t team) {
    if (team == SHMEM_TEAM_INVALID)
        throw Error(ErrorCode::invalid_argument,
                    invalid_team_text ? invalid_team_text() : "SHMEM_TEAM_INVALID was passed as a team.");
    if (!front.job) fail_no_context({"OpenSHMEM", SHMEM_CTX_DEFAULT});
    if (team == SHMEM_TEAM_WORLD) return *front.world;
    if (team == SHMEM_TEAM_SHARED) return *front.shared;
    if (team == SHMEMX_TEAM_HOST) return *front.host;
    if (team == SHMEMX_TEAM_RAIL) return *front.rail;
    if (TeamObject* object = teams.find(team)) return *object;
    throw Error(
        ErrorCode::invalid_argument,
        handle_text(team) +
            " is not a team; pass a predefined one, or one from shmem_team_split_strided or split_2d.");
}

bool is_usable(shmem_team_t team) noexcept {
    if (team == SHMEM_TEAM_INVALID) return false;
    const TeamObject* object = front.job && is_predefined(team) ? &find_team(team) : teams.find(team);
    return object && object->team;
}

TeamObject& team_object(shmem_team_t team) {
    TeamObject& object = find_team(team);
    if (!object.team)
        throw Error(ErrorCode::use_after_free, "The team was destroyed; its handle means nothing any more.");
    return object;
}

shmem_team_t handle_of(Team team, int num_contexts) {
    if (!team) return SHMEM_TEAM_INVALID;
    TeamObject* object = teams.take();
    if (!object)
        throw Error(ErrorCode::out_of_memory, std::to_string(teams.most) +
                                                  " teams are alive, or no memory is left for another; "
                                                  "destroy some.");
    object->team = std::move(team);
    object->num_contexts = num_contexts;
    const std::lock_guard lock(alive.mutex);
    alive.teams.insert(object);
    return reinterpret_cast<shmem_team_t>(object);
}

int team_my_pe(shmem_team_t team) { return is_usable(team) ? team_of(team).my_pe() : -1; }
int team_n_pes(shmem_team_t team) { return is_usable(team) ? team_of(team).n_pes() : -1; }

int team_get_config(shmem_team_t team, long mask, shmem_team_config_t* config) {
    if (!is_usable(team)) return -1;
    if (!(mask & SHMEM_TEAM_NUM_CONTEXTS)) return 0;
    if (!config) return -1;
    config->num_contexts = team_object(team).num_contexts;
    return 0;
}

int team_translate_pe(shmem_team_t from, int pe, shmem_team_t to) {
    return is_usable(from) && is_usable(to) ? team_of(from).translate_pe(pe, team_of(to)) : -1;
}

int team_get_unique_id(const Call& call, std::uint64_t* id) {
    require(call, "unique_id", id);
    *id = 0;
    return status(call, [&] { *id = front.job->get_team_unique_id(); });
}

int team_init(const Call& call, std::uint64_t id, int n_pes, int my_pe, const shmem_team_config_t* config,
              long mask, shmem_team_t* team) {
    require(call, "team", team);
    *team = SHMEM_TEAM_INVALID;
    return status(
        call, [&] { *team = handle_of(front.job->team_init(id, n_pes, my_pe), contexts_of(config, mask)); });
}

int team_split_strided(shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* team) {
    return team_split_strided({"shmem_team_split_strided", SHMEM_CTX_INVALID}, parent, start, stride, size,
                              config, mask, team);
}
int team_split_strided(const Call& call, shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* team) {
    require(call, "new_team", team);
    *team = SHMEM_TEAM_INVALID;
    if (parent == SHMEM_TEAM_INVALID) return -1;
    return status(call, [&] {
        *team = handle_of(team_of(parent).split_strided(start, stride, size), contexts_of(config, mask));
    });
}

int team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig, long xmask,
                  shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask, shmem_team_t* yteam) {
    return team_split_2d({"shmem_team_split_2d", SHMEM_CTX_INVALID}, parent, xrange, xconfig, xmask, xteam,
                         yconfig, ymask, yteam);
}
int team_split_2d(const Call& call, shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig,
                  long xmask, shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask,
                  shmem_team_t* yteam) {
    require(call, "xaxis_team", xteam);
    require(call, "yaxis_team", yteam);
    *xteam = *yteam = SHMEM_TEAM_INVALID;
    if (parent == SHMEM_TEAM_INVALID) return -1;
    return status(call, [&] {
        auto [row, column] = team_of(parent).split_2d(xrange);
        *xteam = handle_of(std::move(row), contexts_of(xconfig, xmask));
        *yteam = handle_of(std::move(column), contexts_of(yconfig, ymask));
    });
}

void team_destroy(shmem_team_t team) { team_destroy({"shmem_team_destroy", SHMEM_CTX_INVALID}, team); }
void team_destroy(const Call& call, shmem_team_t team) {
    if (team == SHMEM_TEAM_INVALID) return;
    guarded(call, [&] {
        TeamObject& object = team_object(team);
        if (!is_predefined(team)) destroy_contexts(object);
        object.team.destroy();
        object.team = Team();
        {
            const std::lock_guard lock(alive.mutex);
            alive.teams.erase(&object);
        }
        teams.release(&object);
    });
}

int team_sync(shmem_team_t team) {
    return collective({"shmem_team_sync", SHMEM_CTX_INVALID}, [&] { team_of(team).sync(); });
}

}  // namespace atl::shmem
