// The part of UCX's C interface that Atoll uses. Declared here, every build reaches other hosts, with UCX's
// headers or without. UCX is found at run time.
//
// Names, values and layouts are those of UCX 1.13, the oldest version supported. Later versions keep them. A
// field mask names the members in use, and new members come last. tests/transport/ucx_interface_test.cpp
// compares all of it with the headers of an installed UCX.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace atl::transport::ucx {

// NOLINTBEGIN(readability-identifier-naming): these names are UCX's.

/// The version of the interface, which is the oldest one supported.
constexpr unsigned api_major = 1, api_minor = 13;

struct ucp_context;
struct ucp_worker;
struct ucp_ep;
struct ucp_mem;
struct ucp_rkey;
struct ucp_address_t;
struct ucp_config_t;
using ucp_context_h = ucp_context*;
using ucp_worker_h = ucp_worker*;
using ucp_ep_h = ucp_ep*;
using ucp_mem_h = ucp_mem*;
using ucp_rkey_h = ucp_rkey*;

/// Errors are negative. UCX packs the type into one byte.
enum ucs_status_t : signed char { UCS_OK = 0, UCS_INPROGRESS = 1, UCS_ERR_LAST = -100 };
/// The result of an operation: null if it is complete, a request, or a negative status.
using ucs_status_ptr_t = void*;

inline bool is_request(ucs_status_ptr_t result) {
    return reinterpret_cast<std::uintptr_t>(result) - 1 < static_cast<std::uintptr_t>(UCS_ERR_LAST) - 1;
}
inline ucs_status_t status_of(ucs_status_ptr_t result) {
    if (is_request(result)) return UCS_INPROGRESS;
    return static_cast<ucs_status_t>(reinterpret_cast<std::intptr_t>(result));
}

enum ucs_memory_type_t : unsigned { UCS_MEMORY_TYPE_HOST = 0, UCS_MEMORY_TYPE_CUDA = 1 };
enum ucs_thread_mode_t : unsigned { UCS_THREAD_MODE_SERIALIZED = 1 };
enum ucp_err_handling_mode_t : unsigned { UCP_ERR_HANDLING_MODE_NONE = 0, UCP_ERR_HANDLING_MODE_PEER = 1 };

constexpr std::uint64_t UCP_PARAM_FIELD_FEATURES = 1 << 0;
constexpr std::uint64_t UCP_FEATURE_RMA = 1 << 1, UCP_FEATURE_WAKEUP = 1 << 4, UCP_FEATURE_AM = 1 << 6;
struct ucp_params_t {
    std::uint64_t field_mask;
    std::uint64_t features;
    std::uint64_t unused[8];
};

constexpr std::uint64_t UCP_ATTR_FIELD_MEMORY_TYPES = 1 << 2;
struct ucp_context_attr_t {
    std::uint64_t field_mask;
    std::size_t request_size;
    ucs_thread_mode_t thread_mode;
    std::uint64_t memory_types;
    char name[32];
};

constexpr std::uint64_t UCP_WORKER_PARAM_FIELD_THREAD_MODE = 1 << 0;
struct ucp_worker_params_t {
    std::uint64_t field_mask;
    ucs_thread_mode_t thread_mode;
    std::uint64_t unused[23];
};

constexpr std::uint64_t UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = 1 << 0,
                        UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = 1 << 1,
                        UCP_EP_PARAM_FIELD_ERR_HANDLER = 1 << 2;
using ucp_err_handler_cb_t = void (*)(void* argument, ucp_ep_h endpoint, ucs_status_t status);
struct ucp_err_handler_t {
    ucp_err_handler_cb_t cb;
    void* arg;
};
struct ucp_ep_params_t {
    std::uint64_t field_mask;
    const ucp_address_t* address;
    ucp_err_handling_mode_t err_mode;
    ucp_err_handler_t err_handler;
    std::uint64_t unused[8];
};

/// From UCX 1.14 on; 1.13 knows no `transports`, and ignores the field.
constexpr std::uint64_t UCP_EP_ATTR_FIELD_TRANSPORTS = 1 << 3;
struct ucp_transport_entry_t {
    const char* transport_name;
    const char* device_name;
};
struct ucp_transports_t {
    ucp_transport_entry_t* entries;
    unsigned num_entries;
    std::size_t entry_size;
};
struct ucp_ep_attr_t {
    std::uint64_t field_mask;
    char name[32];
    sockaddr_storage local_sockaddr, remote_sockaddr;
    ucp_transports_t transports;
    void* user_data;
};

constexpr std::uint64_t UCP_MEM_MAP_PARAM_FIELD_ADDRESS = 1 << 0, UCP_MEM_MAP_PARAM_FIELD_LENGTH = 1 << 1,
                        UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE = 1 << 4;
struct ucp_mem_map_params_t {
    std::uint64_t field_mask;
    void* address;
    std::size_t length;
    unsigned flags;
    unsigned prot;
    ucs_memory_type_t memory_type;
};

constexpr std::uint64_t UCP_AM_RECV_ATTR_FLAG_RNDV = 1 << 17;
struct ucp_am_recv_param_t {
    std::uint64_t recv_attr;
    ucp_ep_h reply_ep;
};
using ucp_am_recv_callback_t = ucs_status_t (*)(void* argument, const void* header, std::size_t header_bytes,
                                                void* data, std::size_t bytes,
                                                const ucp_am_recv_param_t* param);

constexpr std::uint64_t UCP_AM_HANDLER_PARAM_FIELD_ID = 1 << 0, UCP_AM_HANDLER_PARAM_FIELD_FLAGS = 1 << 1,
                        UCP_AM_HANDLER_PARAM_FIELD_CB = 1 << 2, UCP_AM_HANDLER_PARAM_FIELD_ARG = 1 << 3;
constexpr std::uint32_t UCP_AM_FLAG_WHOLE_MSG = 1 << 0;
struct ucp_am_handler_param_t {
    std::uint64_t field_mask;
    unsigned id;
    std::uint32_t flags;
    ucp_am_recv_callback_t cb;
    void* arg;
};

constexpr std::uint32_t UCP_OP_ATTR_FIELD_CALLBACK = 1 << 1, UCP_OP_ATTR_FIELD_USER_DATA = 1 << 2,
                        UCP_OP_ATTR_FIELD_FLAGS = 1 << 4, UCP_OP_ATTR_FIELD_MEMORY_TYPE = 1 << 6;
constexpr std::uint32_t UCP_AM_SEND_FLAG_EAGER = 1 << 1, UCP_EP_CLOSE_FLAG_FORCE = 1 << 0;
struct ucp_request_param_t {
    std::uint32_t op_attr_mask;
    std::uint32_t flags;
    void* request;
    union {
        void (*send)(void* request, ucs_status_t status, void* argument);
    } cb;
    std::uint64_t datatype;
    void* user_data;
    void* reply_buffer;
    ucs_memory_type_t memory_type;
    void* recv_info;
    ucp_mem_h memh;
};

// NOLINTEND(readability-identifier-naming)

/// UCX's functions. Members have their names without ucp_ or ucs_.
struct Functions {
    void (*get_version)(unsigned* major, unsigned* minor, unsigned* release);
    const char* (*get_version_string)();
    ucs_status_t (*config_read)(const char* prefix, const char* file, ucp_config_t** config);
    ucs_status_t (*config_modify)(ucp_config_t* config, const char* name, const char* value);
    void (*config_release)(ucp_config_t* config);
    ucs_status_t (*init_version)(unsigned major, unsigned minor, const ucp_params_t* params,
                                 const ucp_config_t* config, ucp_context_h* context);
    void (*cleanup)(ucp_context_h context);
    ucs_status_t (*context_query)(ucp_context_h context, ucp_context_attr_t* attributes);
    ucs_status_t (*worker_create)(ucp_context_h context, const ucp_worker_params_t* params,
                                  ucp_worker_h* worker);
    void (*worker_destroy)(ucp_worker_h worker);
    ucs_status_t (*worker_get_address)(ucp_worker_h worker, ucp_address_t** address, std::size_t* bytes);
    void (*worker_release_address)(ucp_worker_h worker, ucp_address_t* address);
    ucs_status_t (*worker_get_efd)(ucp_worker_h worker, int* descriptor);
    ucs_status_t (*worker_arm)(ucp_worker_h worker);
    unsigned (*worker_progress)(ucp_worker_h worker);
    ucs_status_t (*worker_set_am_recv_handler)(ucp_worker_h worker, const ucp_am_handler_param_t* param);
    ucs_status_t (*ep_create)(ucp_worker_h worker, const ucp_ep_params_t* params, ucp_ep_h* endpoint);
    ucs_status_ptr_t (*ep_close_nbx)(ucp_ep_h endpoint, const ucp_request_param_t* param);
    ucs_status_t (*ep_query)(ucp_ep_h endpoint, ucp_ep_attr_t* attributes);
    ucs_status_ptr_t (*ep_flush_nbx)(ucp_ep_h endpoint, const ucp_request_param_t* param);
    ucs_status_t (*ep_rkey_unpack)(ucp_ep_h endpoint, const void* packed, ucp_rkey_h* key);
    ucs_status_t (*rkey_pack)(ucp_context_h context, ucp_mem_h memory, void** packed, std::size_t* bytes);
    void (*rkey_buffer_release)(void* packed);
    void (*rkey_destroy)(ucp_rkey_h key);
    ucs_status_t (*mem_map)(ucp_context_h context, const ucp_mem_map_params_t* params, ucp_mem_h* memory);
    ucs_status_t (*mem_unmap)(ucp_context_h context, ucp_mem_h memory);
    ucs_status_ptr_t (*put_nbx)(ucp_ep_h endpoint, const void* source, std::size_t bytes,
                                std::uint64_t target, ucp_rkey_h key, const ucp_request_param_t* param);
    ucs_status_ptr_t (*get_nbx)(ucp_ep_h endpoint, void* target, std::size_t bytes, std::uint64_t source,
                                ucp_rkey_h key, const ucp_request_param_t* param);
    ucs_status_ptr_t (*am_send_nbx)(ucp_ep_h endpoint, unsigned id, const void* header,
                                    std::size_t header_bytes, const void* data, std::size_t bytes,
                                    const ucp_request_param_t* param);
    void (*request_free)(void* request);
    ucs_status_t (*request_check_status)(void* request);
    const char* (*status_string)(ucs_status_t status);
};

}  // namespace atl::transport::ucx
