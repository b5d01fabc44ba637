"""Distributed arrays over teams: the team of a call, the memory of its arrays, and the way from team to team."""
