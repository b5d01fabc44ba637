// The only object of libnvshmem_device.a. NVSHMEM's functions for kernels are inline here.

extern "C" const int atoll_nvshmem_device_functions_are_inline = 1;
