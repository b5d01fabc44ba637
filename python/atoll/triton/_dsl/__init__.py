"""Parts that only Triton needs: its interpreter."""
