"""Parts of the checks of distributed arrays on GPUs."""
