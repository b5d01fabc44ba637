#include "front/device_group.hpp"

#include "front/new_job.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace atl::front {
namespace {

using gpu::Group;
using gpu::GroupArguments;
using requests::Call;
using requests::Kind;
using requests::Span;

/// Staging memory on each member's GPU. With larger stages messages have fewer pieces.
constexpr std::size_t stage_bytes = std::size_t{32} << 20;
constexpr std::size_t message_stage_bytes = std::size_t{8} << 20;
/// This many blocks leave the rest of the GPU to the program and to other groups. Large collectives take
/// fewer.
constexpr unsigned most_blocks = 32;
/// A group uses no host heap. This is its smallest useful limit.
constexpr std::size_t host_heap_bytes = std::size_t{1} << 20;

common::Settings settings_of(const DeviceGroupOptions& options) {
    common::Settings settings = common::read_settings();
    settings.static_data = false;
    settings.raise_kernel_errors = true;
    settings.heap_bytes = host_heap_bytes;
    settings.device = options.device;
    settings.device_exact = true;
    settings.stream_blocks = most_blocks;
    // The members share one host; these are for the program's own job.
    settings.transport = common::TransportChoice::automatic;
    settings.host_ids.clear();
    const double join = options.join_timeout_s > 0 ? options.join_timeout_s : options.timeout_s;
    if (join > 0) settings.init_timeout_s = join;
    if (options.timeout_s > 0) settings.wait_timeout_s = options.timeout_s;
    return settings;
}

/// The jobs of groups, for the end of the process. Never destroyed: threads may use a group until then.
struct Groups {
    std::mutex mutex;
    std::vector<std::weak_ptr<core::JobState>> jobs;
};
Groups& groups() {
    static Groups& instance = *new Groups;
    return instance;
}

void remember(const std::shared_ptr<core::JobState>& job) {
    Groups& all = groups();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.jobs, [](const auto& one) { return one.expired(); });
    all.jobs.push_back(job);
}

/// Announces to the other members that this process ends. A member that ended without it would count as dead,
/// and end the others.
struct Leaver {
    ~Leaver() {
        // A child of fork may have a copy that was locked; its parent announces the end of the groups.
        const std::unique_lock lock(groups().mutex, std::try_to_lock);
        if (!lock) return;
        for (const auto& one : groups().jobs) {
            std::shared_ptr<core::JobState> job = one.lock();
            if (!job) continue;
            job->leave();
            static_cast<void>(new (std::nothrow)
                                  std::shared_ptr(std::move(job)));  // GPUs can no longer be closed
        }
    }
} leaver;

std::shared_ptr<core::JobState> join(const JobOptions::Store& store, const DeviceGroupOptions& options) {
    const common::Settings settings = settings_of(options);
    std::shared_ptr<core::JobState> job =
        new_job(bootstrap::create_store(settings, store, options.rank, options.n), settings);
    if (job->topology().hosts().n_domains > 1)
        throw Error(ErrorCode::unsupported,
                    "The members of this group run on " + std::to_string(job->topology().hosts().n_hosts()) +
                        " hosts, or in containers that share no memory. A group on GPUs has one host in this "
                        "version; PyTorch's groups over several hosts take nccl.");
    remember(job);
    return job;
}

/// Copies messages of a member to itself, each send to the receive of the same number.
void copy_own(const stream::Staging& stage, const std::vector<stream::Staging::Message>& own,
              gpu::StreamHandle stream) {
    std::vector<const stream::Staging::Message*> sent, received;
    for (const auto& m : own) (m.is_send ? sent : received).push_back(&m);
    if (sent.size() != received.size())
        throw Error(ErrorCode::invalid_argument,
                    "A member sends " + std::to_string(sent.size()) + " messages to itself, but receives " +
                        std::to_string(received.size()) + "; make as many of both in one group.");
    for (std::size_t i = 0; i < sent.size(); ++i) {
        if (sent[i]->bytes != received[i]->bytes)
            throw Error(ErrorCode::shape_mismatch, "A member sends " + std::to_string(sent[i]->bytes) +
                                                       " bytes to itself, but receives " +
                                                       std::to_string(received[i]->bytes) +
                                                       "; make both equal.");
        stage.copy(received[i]->data, sent[i]->data, sent[i]->bytes, stream);
    }
}

Group group_of(Kind kind) {
    switch (kind) {
        case Kind::barrier:
            return Group::sync;
        case Kind::broadcast:
            return Group::broadcast;
        case Kind::reduce:
            return Group::reduce_to;
        case Kind::all_reduce:
            return Group::reduce;
        case Kind::all_gather:
            return Group::fcollect;
        case Kind::gather:
            return Group::gather;
        case Kind::scatter:
            return Group::scatter;
        case Kind::reduce_scatter:
            return Group::reduce_scatter;
        case Kind::all_to_all:
            return Group::alltoall;
        default:
            throw Error(ErrorCode::invalid_argument,
                        "Messages are enqueued by their own function of a group.");
    }
}

GroupArguments arguments_of(const Call& call, int n) {
    GroupArguments a{.kind = group_of(call.kind)};
    const Span in = call.in.empty() ? Span{} : call.in[0];
    const Span out = call.out.empty() ? Span{} : call.out[0];
    a.src = in.data;
    a.dst = out.data;
    a.root = call.root;
    a.bytes = call.in.empty() ? out.bytes / a.dst_blocks(n) : in.bytes / a.src_blocks(n);
    // The root's source is its target, in place.
    if (call.kind == Kind::broadcast && !a.dst) a.dst = in.data;
    if (call.folds()) {
        if (call.type < 0 || call.type >= dtype_count)
            throw Error(ErrorCode::dtype_mismatch,
                        "Reductions on a GPU take the types of DType; convert 8-bit floating-point numbers "
                        "to float first.");
        a.type = static_cast<DType>(call.type);
        a.op = call.op;
    }
    return a;
}

}  // namespace

DeviceGroup::DeviceGroup(const JobOptions::Store& store, const DeviceGroupOptions& options)
    : job_(join(store, options)), for_messages_(options.for_messages) {
    if (for_messages_ && options.n != 2)
        throw Error(ErrorCode::invalid_argument,
                    "A group for messages has two members; " + std::to_string(options.n) + " were passed.");
    const std::size_t bytes = for_messages_ ? message_stage_bytes : stage_bytes;
    auto* stage = static_cast<char*>(job_->heap().allocate(bytes, 0, {.memory = Memory::device}).address);
    const Team& world = job_->world();
    stages_.emplace_back(world, stage, bytes);
    // Messages of one team are on one stream at a time, so each direction has a team.
    if (for_messages_) stages_.emplace_back(world.split_strided(0, 1, 2), stage, bytes);
}

void DeviceGroup::start(const Call& call, gpu::StreamHandle stream) const {
    device().streams().check_kernels();
    if (call.kind == Kind::all_to_all && (call.in.size() > 1 || call.out.size() > 1))
        return all_to_all(call, stream);
    stages_.front().start(arguments_of(call, job_->n_pes()), stream);
}

/// Pieces of different sizes go as messages.
void DeviceGroup::all_to_all(const Call& call, gpu::StreamHandle stream) const {
    const auto n = static_cast<std::size_t>(job_->n_pes());
    const auto me = static_cast<std::size_t>(job_->pe());
    if (call.in.size() != n || call.out.size() != n || call.in[me].bytes != call.out[me].bytes)
        throw Error(ErrorCode::shape_mismatch,
                    "all_to_all takes a piece for each of the " + std::to_string(n) +
                        " members on both sides, and the caller's own two pieces have equal sizes.");
    std::vector<stream::Staging::Message> messages;
    for (std::size_t i = 0; i < n; ++i) {
        if (i == me) continue;
        messages.push_back({call.in[i].data, call.in[i].bytes, static_cast<int>(i), true});
        messages.push_back({call.out[i].data, call.out[i].bytes, static_cast<int>(i), false});
    }
    const stream::Staging& stage = stages_.front();
    stage.copy(call.out[me].data, call.in[me].data, call.in[me].bytes, stream);
    stage.exchange(messages, stream);
}

void DeviceGroup::exchange(const std::vector<Call>& calls, gpu::StreamHandle stream) const {
    device().streams().check_kernels();
    std::vector<stream::Staging::Message> messages, own;
    for (const Call& call : calls) {
        const bool is_send = call.kind == Kind::send;
        const std::vector<Span>& spans = is_send ? call.in : call.out;
        if (!call.is_message() || spans.size() != 1)
            throw Error(ErrorCode::invalid_argument, "A message has one span: of a send or of a receive.");
        if (for_messages_ && is_send != (calls.front().kind == Kind::send))
            throw Error(ErrorCode::invalid_argument,
                        "The messages of one call of a group for messages go in one direction.");
        const bool is_own = call.root == job_->pe() && !for_messages_;
        (is_own ? own : messages).push_back({spans[0].data, spans[0].bytes, call.root, is_send});
    }
    copy_own(stages_.front(), own, stream);
    if (messages.empty()) return;
    const int sender = messages.front().is_send ? job_->pe() : 1 - job_->pe();
    stages_[for_messages_ ? static_cast<std::size_t>(sender) : 0].exchange(messages, stream);
}

}  // namespace atl::front
