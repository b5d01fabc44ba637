// PredefinedTeams: the teams that a job makes for its program.
#pragma once

#include "atoll/team.hpp"

#include <mutex>
#include <utility>

namespace atl::core {

class JobBase;

/// The world team and the teams of its hosts (job.hpp). Each call returns the same object every time.
class PredefinedTeams {
  public:
    explicit PredefinedTeams(JobBase& job) : job_(job) {}
    void set_world(Team world) { world_ = std::move(world); }
    /// Collective over the world, in a job of several domains. In others the world serves for all of them.
    void split_world();

    const Team& world() const { return world_; }
    const Team& shared() const { return shared_ ? shared_ : world_; }
    const Team& host() const { return host_ ? host_ : world_; }
    /// Made when first needed if the job has one domain: then it is this PE alone.
    const Team& rail();

  private:
    JobBase& job_;
    Team world_, shared_, host_, rail_;
    std::mutex rail_mutex_;
};

}  // namespace atl::core
