#include "transport/ucx/worker.hpp"

#include "atoll/error.hpp"
#include "common/settings/foreign_environment.hpp"
#include "transport/ucx/endpoint_transports.hpp"

#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace atl::transport::ucx {
namespace {

// Ids of active messages: in one, the header precedes the data; in the other, UCX carries it separately.
constexpr unsigned whole_id = 17, parted_id = 18;

std::string names_in(const char* folder) {
    std::string names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        names += (names.empty() ? "" : ", ") + entry.path().filename().string();
    return names;
}

std::string devices() {
    const std::string rdma = names_in("/sys/class/infiniband");
    return "Network devices here: " + names_in("/sys/class/net") + (rdma.empty() ? "" : ", " + rdma) + ".";
}

std::string ucx_settings() {
    std::string text;
    for (const char* name : {"UCX_NET_DEVICES", "UCX_TLS"})
        if (const auto value = common::foreign_variable(name))
            text += (text.empty() ? " with " : " and ") + std::string(name) + "=" + *value;
    return text;
}

/// The advice for an error in which UCX was restricted to some transports.
std::string advice() {
    return common::foreign_variable("UCX_TLS")
               ? " UCX_TLS must name a way between hosts, such as tcp; unset, UCX chooses."
               : "";
}

bool is_device(const std::string& name) {
    return std::filesystem::exists("/sys/class/net/" + name) ||
           std::filesystem::exists("/sys/class/infiniband/" + name);
}

/// The devices of this host that UCX is configured to use; device names may differ between hosts. Empty if
/// UCX is not configured. Without any of them UCX would go on until the first connection fails.
std::string devices_asked_for() {
    const std::string asked = common::foreign_variable("UCX_NET_DEVICES").value_or("all");
    if (asked == "all" || asked.find_first_of("^*?[") != std::string::npos) return {};
    std::istringstream list(asked);
    std::string here;
    for (std::string device; std::getline(list, device, ',');)
        if (is_device(device.substr(0, device.find(':')))) here += (here.empty() ? "" : ",") + device;
    if (here.empty())
        throw Error(ErrorCode::system,
                    "UCX_NET_DEVICES=" + asked + ": there is no " + asked + ". " + devices() +
                        " Name one of them, or the names of all hosts' in one list; unset, UCX chooses.");
    return here;
}

}  // namespace

/// UCX cannot detect that a peer over shared memory is gone. The launcher of the PEs can, since they share a
/// machine.
Worker::Worker(const Library& ucp, OwnAccess access, Deliver deliver, void* argument)
    : ucp_(ucp),
      access_(access),
      watches_peers_(!is_shared_memory_only()),
      deliver_(deliver),
      argument_(argument) {
    open_context();
    try {
        open_worker();
    } catch (...) {
        if (worker_) ucp_.worker_destroy(worker_);
        ucp_.cleanup(context_);
        throw;
    }
}

Worker::~Worker() {
    if (abandoned_ || !has_disconnected()) return;
    ucp_.worker_destroy(worker_);
    ucp_.cleanup(context_);
}

bool Worker::knows_cuda() const {
    ucp_context_attr_t attributes{};
    attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
    return ucp_.context_query(context_, &attributes) == UCS_OK &&
           (attributes.memory_types & (1U << UCS_MEMORY_TYPE_CUDA)) != 0;
}

/// A UCX with CUDA also pins registered host memory for the GPU, after which the GPU's driver refuses to pin
/// it again for kernels (`Job::pin`). UCX is therefore configured not to use CUDA unless it is to access
/// GPUs' memory. A UCX without CUDA would warn of the unknown setting, so it gets none.
void Worker::open_context() {
    open_context(nullptr);
    if (access_ != OwnAccess::host_memory || !knows_cuda() || common::foreign_variable("UCX_TLS")) return;
    ucp_.cleanup(context_);
    open_context("^cuda");
}

void Worker::open_context(const char* networks) {
    const std::string asked = devices_asked_for();
    ucp_config_t* config = nullptr;
    ucs_status_t status = ucp_.config_read(nullptr, nullptr, &config);
    if (status == UCS_OK) {
        if (!asked.empty()) ucp_.config_modify(config, "NET_DEVICES", asked.c_str());
        if (networks) ucp_.config_modify(config, "TLS", networks);
        // UCX's cache of memory types records cuMemAlloc but not cuMemMap; it would take that memory for the
        // host's.
        if (access_ == OwnAccess::device_memory) {
            ucp_.config_modify(config, "MEMTYPE_CACHE", "n");
            ucp_.config_modify(config, "MEMTYPE_REG_WHOLE_ALLOC_TYPES", "");
        }
        ucp_params_t params{};
        params.field_mask = UCP_PARAM_FIELD_FEATURES;
        params.features =
            UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | (access_ != OwnAccess::none ? UCP_FEATURE_RMA : 0);
        status = ucp_.init_version(api_major, api_minor, &params, config, &context_);
        ucp_.config_release(config);
    }
    if (status != UCS_OK)
        throw Error(ErrorCode::system, "UCX " + ucp_.version + ucx_settings() + " cannot start: " +
                                           ucp_.status_string(status) + ". " + devices() + advice());
}

void Worker::open_worker() {
    const auto check = [&](ucs_status_t status, const char* doing) {
        if (status != UCS_OK)
            throw Error(ErrorCode::system, "UCX " + ucp_.version + ucx_settings() + " failed while " + doing +
                                               ": " + ucp_.status_string(status) + ". " + devices() +
                                               advice());
    };
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = UCS_THREAD_MODE_SERIALIZED;  // our own lock serializes the calls
    check(ucp_.worker_create(context_, &params, &worker_), "opening its networks");
    check(ucp_.worker_get_efd(worker_, &event_fd_), "asking for its event descriptor");
    for (const unsigned id : {whole_id, parted_id}) {
        ucp_am_handler_param_t handler{};
        handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                             UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
        handler.id = id;
        handler.flags = UCP_AM_FLAG_WHOLE_MSG;
        handler.cb = &Worker::receive;
        handler.arg = this;
        check(ucp_.worker_set_am_recv_handler(worker_, &handler), "registering a message");
    }
    ucp_address_t* address = nullptr;
    std::size_t bytes = 0;
    check(ucp_.worker_get_address(worker_, &address, &bytes), "asking for its address");
    address_.assign(reinterpret_cast<const char*>(address), bytes);
    ucp_.worker_release_address(worker_, address);
}

ucp_ep_h Worker::connect(const std::string& address, Lose lose, void* argument) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                        UCP_EP_PARAM_FIELD_ERR_HANDLER;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    params.err_mode = watches_peers_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
    params.err_handler.cb = lose;
    params.err_handler.arg = argument;
    ucp_ep_h endpoint = nullptr;
    if (const ucs_status_t status = ucp_.ep_create(worker_, &params, &endpoint); status != UCS_OK)
        throw Error(ErrorCode::bootstrap,
                    "UCX " + ucp_.version + ucx_settings() +
                        " finds no way to the other PE's address: " + ucp_.status_string(status) +
                        ". Networks that do not join the hosts (a container's bridge, "
                        "a private link) can mislead it. Name those that do, such as "
                        "UCX_NET_DEVICES=eth0. If hosts call them differently, list "
                        "all their names: eth0,ens5. " +
                        devices() + advice());
    return endpoint;
}

void Worker::disconnect(ucp_ep_h endpoint) {
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = watches_peers_ ? UCP_EP_CLOSE_FLAG_FORCE : 0;
    void* request = ucp_.ep_close_nbx(endpoint, &param);
    if (is_request(request)) closing_.push_back(request);
}

bool Worker::has_disconnected() {
    std::erase_if(closing_, [this](void* request) {
        if (ucp_.request_check_status(request) == UCS_INPROGRESS) return false;
        ucp_.request_free(request);
        return true;
    });
    return closing_.empty();
}

const char* Worker::send(ucp_ep_h endpoint, Packet& packet, std::size_t bytes) {
    return post(endpoint, whole_id, packet, 0, &packet, sizeof(Header) + bytes);
}

const char* Worker::send_from(ucp_ep_h endpoint, Packet& packet, const void* data, std::size_t bytes,
                              Flight* flight) {
    packet.flight = flight;
    if (flight) ++flight->left;
    return post(endpoint, parted_id, packet, sizeof(Header), data, bytes);
}

const char* Worker::post(ucp_ep_h endpoint, unsigned id, Packet& packet, std::size_t header_bytes,
                         const void* data, std::size_t bytes) {
    ucp_request_param_t param;
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    // A rendezvous would change the order, and needs progress of its target.
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    param.cb.send = &Worker::sent;
    param.user_data = &packet;
    void* request = ucp_.am_send_nbx(endpoint, id, header_bytes ? &packet.header : nullptr, header_bytes,
                                     data, bytes, &param);
    if (is_request(request)) return nullptr;
    packets_.release(packet);
    return request ? ucp_.status_string(status_of(request)) : nullptr;
}

void Worker::sent(void* request, ucs_status_t, void* argument) {
    // The endpoint's error handler reports a failure too.
    auto& packet = *static_cast<Packet*>(argument);
    packet.home->packets_.release(packet);
    packet.home->ucp_.request_free(request);
}

ucs_status_t Worker::receive(void* self, const void* header, std::size_t header_bytes, void* data,
                             std::size_t bytes, const ucp_am_recv_param_t* param) {
    auto& worker = *static_cast<Worker*>(self);
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) return UCS_OK;  // PEs never send by rendezvous
    Header copy;
    const char* payload = static_cast<const char*>(data);
    if (header_bytes == sizeof(Header)) {
        std::memcpy(&copy, header, sizeof copy);
    } else if (header_bytes == 0 && bytes >= sizeof(Header)) {
        std::memcpy(&copy, payload, sizeof copy);
        payload += sizeof copy;
        bytes -= sizeof copy;
    } else {
        return UCS_OK;
    }
    worker.deliver_(worker.argument_, copy, payload, bytes);
    return UCS_OK;
}

}  // namespace atl::transport::ucx
