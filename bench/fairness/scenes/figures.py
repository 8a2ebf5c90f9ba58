"""What a scene gives."""

#: measure -> figure; its unit is in its name.
Figures = dict[str, float]
