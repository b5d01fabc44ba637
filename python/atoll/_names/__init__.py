"""Names of the package: deprecated ones, those of other libraries, and signatures of methods."""
