"""The methods of a distributed array, a base class of `DistArray` for each subject."""
