// Teams by OpenSHMEM's names and status codes.
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::shmem {

TeamObject& team_object(shmem_team_t team) {
    if (team == SHMEM_TEAM_WORLD) return front.world;
    if (team == SHMEM_TEAM_SHARED) return front.shared;
    if (team == SHMEM_TEAM_INVALID)
        throw Error(ErrorCode::invalid_argument, "SHMEM_TEAM_INVALID was passed as a team.");
    return *reinterpret_cast<TeamObject*>(team);
}

namespace {

shmem_team_t handle_of(Team team, const shmem_team_config_t* config, long mask) {
    if (!team) return SHMEM_TEAM_INVALID;
    auto* object = new TeamObject;
    object->team = std::move(team);
    if (config && (mask & SHMEM_TEAM_NUM_CONTEXTS)) object->num_contexts = config->num_contexts;
    return reinterpret_cast<shmem_team_t>(object);
}

}  // namespace

int team_my_pe(shmem_team_t team) { return team == SHMEM_TEAM_INVALID ? -1 : team_of(team).my_pe(); }
int team_n_pes(shmem_team_t team) { return team == SHMEM_TEAM_INVALID ? -1 : team_of(team).n_pes(); }

int team_get_config(shmem_team_t team, long mask, shmem_team_config_t* config) {
    if (team == SHMEM_TEAM_INVALID) return -1;
    if (mask & SHMEM_TEAM_NUM_CONTEXTS) config->num_contexts = team_object(team).num_contexts;
    return 0;
}

int team_translate_pe(shmem_team_t from, int pe, shmem_team_t to) {
    if (from == SHMEM_TEAM_INVALID || to == SHMEM_TEAM_INVALID) return -1;
    return team_of(from).translate_pe(pe, team_of(to));
}

int team_split_strided(shmem_team_t parent, int start, int stride, int size,
                       const shmem_team_config_t* config, long mask, shmem_team_t* team) {
    *team = SHMEM_TEAM_INVALID;
    if (parent == SHMEM_TEAM_INVALID) return -1;
    return status({"shmem_team_split_strided", SHMEM_CTX_INVALID}, [&] {
        *team = handle_of(team_of(parent).split_strided(start, stride, size), config, mask);
    });
}

int team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t* xconfig, long xmask,
                  shmem_team_t* xteam, const shmem_team_config_t* yconfig, long ymask, shmem_team_t* yteam) {
    *xteam = *yteam = SHMEM_TEAM_INVALID;
    if (parent == SHMEM_TEAM_INVALID) return -1;
    return status({"shmem_team_split_2d", SHMEM_CTX_INVALID}, [&] {
        auto [row, column] = team_of(parent).split_2d(xrange);
        *xteam = handle_of(std::move(row), xconfig, xmask);
        *yteam = handle_of(std::move(column), yconfig, ymask);
    });
}

void team_destroy(shmem_team_t team) {
    if (team == SHMEM_TEAM_INVALID) return;
    guarded({"shmem_team_destroy", SHMEM_CTX_INVALID}, [&] {
        TeamObject& object = team_object(team);
        object.team.destroy();
        const std::set<shmem_ctx_t> contexts = object.contexts;
        for (shmem_ctx_t ctx : contexts) ctx_destroy(ctx);
        delete &object;
    });
}

int team_sync(shmem_team_t team) {
    return status({"shmem_team_sync", SHMEM_CTX_INVALID}, [&] { team_of(team).sync(); });
}

}  // namespace atl::shmem
