"""Parts that only CuTe DSL needs: copies of tensors by their layouts."""
