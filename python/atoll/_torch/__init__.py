"""Parts of atoll.torch: shared tensors, and the backend of torch.compile."""
