// A job of one PE, which connects to no other process.
#include <map>

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/fail.hpp"
#include "bootstrap/host/host_segment.hpp"

namespace atl::bootstrap {
namespace {

class Single final : public Bootstrap {
  public:
    Single() : board_(MappedBoard::create_private(1)) { board_.view().sign_in(0); }

    std::string_view name() const override { return "single"; }
    int pe() const override { return 0; }
    int n_pes() const override { return 1; }

    void put(const std::string& key, const std::string& value) override { values_[key] = value; }
    std::string get(const std::string& key) override {
        const auto found = values_.find(key);
        if (found == values_.end())
            throw_bootstrap(
                "get(\"" + key +
                "\"): the key was not put, and this job has no other PE that could put it. Put it first.");
        return found->second;
    }
    void fence() override {}
    std::vector<std::string> allgather(const std::string& value) override { return {value}; }

    HostSegment host_segment() override {
        HostSegment segment;
        segment.pes = {0};
        segment.board = board_.view();
        segment.heap_fd = make_heap_fd();
        return segment;
    }
    bool sees_all() const override { return true; }
    std::unique_ptr<Monitor> monitor(const common::BoardView&) override { return nullptr; }
    void goodbye(bool) noexcept override {}
    void abort(int, const std::string&) noexcept override {}

  private:
    MappedBoard board_;
    std::map<std::string, std::string> values_;
};

}  // namespace

std::unique_ptr<Bootstrap> create_single(const common::Settings&) { return std::make_unique<Single>(); }

}  // namespace atl::bootstrap
