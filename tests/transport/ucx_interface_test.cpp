// Compares our declarations of UCX with the headers of the installed one, mostly as this file is compiled.
#include "transport/ucx/interface.hpp"

#include <ucp/api/ucp.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

namespace ours = atl::transport::ucx;

namespace {

template <class A, class B> constexpr bool same_shape() {
    if constexpr (std::is_void_v<A> || std::is_void_v<B>)
        return std::is_void_v<A> && std::is_void_v<B>;
    else
        return sizeof(A) == sizeof(B) && alignof(A) == alignof(B) &&
               std::is_pointer_v<A> == std::is_pointer_v<B> &&
               std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}

/// The functions are called alike: the same arguments and result but for the names of types.
template <class Result, class... Arguments, class Other, class... Others>
constexpr bool called_alike(Result (*)(Arguments...), Other (*)(Others...)) {
    if constexpr (sizeof...(Arguments) != sizeof...(Others))
        return false;
    else
        return same_shape<Result, Other>() && (same_shape<Arguments, Others>() && ...);
}
template <class A, class B> constexpr bool alike = called_alike(A{}, B{});

#define SAME_VALUE(name) static_assert(ours::name + 0LL == ::name + 0LL)
#define SAME_FUNCTION(library, name) \
    static_assert(alike<decltype(ours::Functions::name), decltype(&::library##_##name)>)
#define SAME_CALLBACK(name) static_assert(alike<ours::name, ::name>)
/// New members come last, so a newer UCX has larger structures.
#define SAME_SIZE(type)                                                                   \
    static_assert(UCP_API_MINOR == ours::api_minor ? sizeof(ours::type) == sizeof(::type) \
                                                   : sizeof(ours::type) <= sizeof(::type));
#define SAME_MEMBER(type, member)                                             \
    static_assert(offsetof(ours::type, member) == offsetof(::type, member) && \
                  same_shape<decltype(ours::type::member), decltype(::type::member)>())

static_assert(UCP_API_MAJOR == ours::api_major && UCP_API_MINOR >= ours::api_minor);

SAME_VALUE(UCS_OK);
SAME_VALUE(UCS_INPROGRESS);
SAME_VALUE(UCS_ERR_LAST);
SAME_VALUE(UCS_MEMORY_TYPE_HOST);
SAME_VALUE(UCS_MEMORY_TYPE_CUDA);
SAME_VALUE(UCS_THREAD_MODE_SERIALIZED);
SAME_VALUE(UCP_ERR_HANDLING_MODE_NONE);
SAME_VALUE(UCP_ERR_HANDLING_MODE_PEER);
SAME_VALUE(UCP_PARAM_FIELD_FEATURES);
SAME_VALUE(UCP_FEATURE_RMA);
SAME_VALUE(UCP_FEATURE_WAKEUP);
SAME_VALUE(UCP_FEATURE_AM);
SAME_VALUE(UCP_ATTR_FIELD_MEMORY_TYPES);
SAME_VALUE(UCP_WORKER_PARAM_FIELD_THREAD_MODE);
SAME_VALUE(UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
SAME_VALUE(UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE);
SAME_VALUE(UCP_EP_PARAM_FIELD_ERR_HANDLER);
SAME_VALUE(UCP_MEM_MAP_PARAM_FIELD_ADDRESS);
SAME_VALUE(UCP_MEM_MAP_PARAM_FIELD_LENGTH);
SAME_VALUE(UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE);
SAME_VALUE(UCP_AM_RECV_ATTR_FLAG_RNDV);
SAME_VALUE(UCP_AM_HANDLER_PARAM_FIELD_ID);
SAME_VALUE(UCP_AM_HANDLER_PARAM_FIELD_FLAGS);
SAME_VALUE(UCP_AM_HANDLER_PARAM_FIELD_CB);
SAME_VALUE(UCP_AM_HANDLER_PARAM_FIELD_ARG);
SAME_VALUE(UCP_AM_FLAG_WHOLE_MSG);
SAME_VALUE(UCP_OP_ATTR_FIELD_CALLBACK);
SAME_VALUE(UCP_OP_ATTR_FIELD_USER_DATA);
SAME_VALUE(UCP_OP_ATTR_FIELD_FLAGS);
SAME_VALUE(UCP_OP_ATTR_FIELD_MEMORY_TYPE);
SAME_VALUE(UCP_AM_SEND_FLAG_EAGER);
SAME_VALUE(UCP_EP_CLOSE_FLAG_FORCE);

static_assert(same_shape<ours::ucs_status_t, ::ucs_status_t>());
SAME_SIZE(ucp_params_t);
SAME_MEMBER(ucp_params_t, field_mask);
SAME_MEMBER(ucp_params_t, features);
SAME_SIZE(ucp_context_attr_t);
SAME_MEMBER(ucp_context_attr_t, field_mask);
SAME_MEMBER(ucp_context_attr_t, request_size);
SAME_MEMBER(ucp_context_attr_t, thread_mode);
SAME_MEMBER(ucp_context_attr_t, memory_types);
SAME_MEMBER(ucp_context_attr_t, name);
SAME_SIZE(ucp_worker_params_t);
SAME_MEMBER(ucp_worker_params_t, field_mask);
SAME_MEMBER(ucp_worker_params_t, thread_mode);
SAME_SIZE(ucp_err_handler_t);
SAME_MEMBER(ucp_err_handler_t, cb);
SAME_MEMBER(ucp_err_handler_t, arg);
SAME_SIZE(ucp_ep_params_t);
SAME_MEMBER(ucp_ep_params_t, field_mask);
SAME_MEMBER(ucp_ep_params_t, address);
SAME_MEMBER(ucp_ep_params_t, err_mode);
SAME_MEMBER(ucp_ep_params_t, err_handler);
SAME_MEMBER(ucp_ep_attr_t, field_mask);
SAME_MEMBER(ucp_ep_attr_t, name);
SAME_MEMBER(ucp_ep_attr_t, local_sockaddr);
SAME_MEMBER(ucp_ep_attr_t, remote_sockaddr);
#if UCP_API_MINOR >= 14
SAME_SIZE(ucp_ep_attr_t);
SAME_VALUE(UCP_EP_ATTR_FIELD_TRANSPORTS);
SAME_MEMBER(ucp_ep_attr_t, transports);
SAME_MEMBER(ucp_ep_attr_t, user_data);
SAME_MEMBER(ucp_transports_t, entries);
SAME_MEMBER(ucp_transports_t, num_entries);
SAME_MEMBER(ucp_transports_t, entry_size);
SAME_SIZE(ucp_transport_entry_t);
SAME_MEMBER(ucp_transport_entry_t, transport_name);
SAME_MEMBER(ucp_transport_entry_t, device_name);
#endif
SAME_SIZE(ucp_mem_map_params_t);
SAME_MEMBER(ucp_mem_map_params_t, field_mask);
SAME_MEMBER(ucp_mem_map_params_t, address);
SAME_MEMBER(ucp_mem_map_params_t, length);
SAME_MEMBER(ucp_mem_map_params_t, flags);
SAME_MEMBER(ucp_mem_map_params_t, prot);
SAME_MEMBER(ucp_mem_map_params_t, memory_type);
SAME_SIZE(ucp_am_recv_param_t);
SAME_MEMBER(ucp_am_recv_param_t, recv_attr);
SAME_MEMBER(ucp_am_recv_param_t, reply_ep);
SAME_SIZE(ucp_am_handler_param_t);
SAME_MEMBER(ucp_am_handler_param_t, field_mask);
SAME_MEMBER(ucp_am_handler_param_t, id);
SAME_MEMBER(ucp_am_handler_param_t, flags);
SAME_MEMBER(ucp_am_handler_param_t, cb);
SAME_MEMBER(ucp_am_handler_param_t, arg);
SAME_SIZE(ucp_request_param_t);
SAME_MEMBER(ucp_request_param_t, op_attr_mask);
SAME_MEMBER(ucp_request_param_t, flags);
SAME_MEMBER(ucp_request_param_t, request);
SAME_MEMBER(ucp_request_param_t, cb);
SAME_MEMBER(ucp_request_param_t, datatype);
SAME_MEMBER(ucp_request_param_t, user_data);
SAME_MEMBER(ucp_request_param_t, reply_buffer);
SAME_MEMBER(ucp_request_param_t, memory_type);
static_assert(offsetof(ours::ucp_request_param_t, recv_info) == offsetof(::ucp_request_param_t, recv_info));
SAME_MEMBER(ucp_request_param_t, memh);

SAME_CALLBACK(ucp_err_handler_cb_t);
SAME_CALLBACK(ucp_am_recv_callback_t);
static_assert(
    alike<decltype(ours::ucp_request_param_t{}.cb.send), decltype(::ucp_request_param_t{}.cb.send)>);
SAME_FUNCTION(ucp, get_version);
SAME_FUNCTION(ucp, get_version_string);
SAME_FUNCTION(ucp, config_read);
SAME_FUNCTION(ucp, config_modify);
SAME_FUNCTION(ucp, config_release);
SAME_FUNCTION(ucp, init_version);
SAME_FUNCTION(ucp, cleanup);
SAME_FUNCTION(ucp, context_query);
SAME_FUNCTION(ucp, worker_create);
SAME_FUNCTION(ucp, worker_destroy);
SAME_FUNCTION(ucp, worker_get_address);
SAME_FUNCTION(ucp, worker_release_address);
SAME_FUNCTION(ucp, worker_get_efd);
SAME_FUNCTION(ucp, worker_arm);
SAME_FUNCTION(ucp, worker_progress);
SAME_FUNCTION(ucp, worker_set_am_recv_handler);
SAME_FUNCTION(ucp, ep_create);
SAME_FUNCTION(ucp, ep_close_nbx);
SAME_FUNCTION(ucp, ep_query);
SAME_FUNCTION(ucp, ep_flush_nbx);
SAME_FUNCTION(ucp, ep_rkey_unpack);
SAME_FUNCTION(ucp, rkey_pack);
SAME_FUNCTION(ucp, rkey_buffer_release);
SAME_FUNCTION(ucp, rkey_destroy);
SAME_FUNCTION(ucp, mem_map);
SAME_FUNCTION(ucp, mem_unmap);
SAME_FUNCTION(ucp, put_nbx);
SAME_FUNCTION(ucp, get_nbx);
SAME_FUNCTION(ucp, am_send_nbx);
SAME_FUNCTION(ucp, request_free);
SAME_FUNCTION(ucp, request_check_status);
SAME_FUNCTION(ucs, status_string);

TEST(UcxInterface, ResultsAreReadAsUcxReadsThem) {
    int object = 0;
    for (const std::intptr_t value :
         {std::intptr_t{0}, std::intptr_t{-1}, std::intptr_t{-99}, std::intptr_t{-100}, std::intptr_t{-101},
          std::intptr_t{1}, reinterpret_cast<std::intptr_t>(&object)}) {
        void* result = reinterpret_cast<void*>(value);
        EXPECT_EQ(ours::is_request(result), static_cast<bool>(UCS_PTR_IS_PTR(result))) << value;
        EXPECT_EQ(static_cast<int>(ours::status_of(result)), static_cast<int>(UCS_PTR_STATUS(result)))
            << value;
    }
}

}  // namespace
