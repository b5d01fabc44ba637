// UCX's functions, found at run time: we do not link UCX, and a job on one host does not load it.
#pragma once

#include <ucp/api/ucp.h>

#include <string>

namespace atl::transport::ucx {

struct Library {
    decltype(&ucp_get_version) get_version;
    decltype(&ucp_get_version_string) get_version_string;
    decltype(&ucp_config_read) config_read;
    decltype(&ucp_config_modify) config_modify;
    decltype(&ucp_config_release) config_release;
    decltype(&ucp_init_version) init_version;
    decltype(&ucp_cleanup) cleanup;
    decltype(&ucp_context_query) context_query;
    decltype(&ucp_worker_create) worker_create;
    decltype(&ucp_worker_destroy) worker_destroy;
    decltype(&ucp_worker_get_address) worker_get_address;
    decltype(&ucp_worker_release_address) worker_release_address;
    decltype(&ucp_worker_get_efd) worker_get_efd;
    decltype(&ucp_worker_arm) worker_arm;
    decltype(&ucp_worker_progress) worker_progress;
    decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
    decltype(&ucp_ep_create) ep_create;
    decltype(&ucp_ep_close_nbx) ep_close_nbx;
    decltype(&ucp_ep_query) ep_query;
    decltype(&ucp_ep_flush_nbx) ep_flush_nbx;
    decltype(&ucp_ep_rkey_unpack) ep_rkey_unpack;
    decltype(&ucp_rkey_pack) rkey_pack;
    decltype(&ucp_rkey_buffer_release) rkey_buffer_release;
    decltype(&ucp_rkey_destroy) rkey_destroy;
    decltype(&ucp_mem_map) mem_map;
    decltype(&ucp_mem_unmap) mem_unmap;
    decltype(&ucp_put_nbx) put_nbx;
    decltype(&ucp_get_nbx) get_nbx;
    decltype(&ucp_am_send_nbx) am_send_nbx;
    decltype(&ucp_request_free) request_free;
    decltype(&ucp_request_check_status) request_check_status;
    decltype(&ucs_status_string) status_string;
    std::string version;
    unsigned minor;  ///< of the version; the major one is 1
    std::string path;
};

/// The process's one UCX. In this order: the one already loaded (by an MPI, say), `given` if not empty, the
/// system's, PyPI's libucx packages. Throws Error(unsupported) that lists the attempts.
const Library& library(const std::string& given);

}  // namespace atl::transport::ucx
