"""Analyses: how they are asked for, made, ended, and made again by the schedule."""
