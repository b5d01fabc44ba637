"""Updates of elements wherever they lie: atomic ones of boxes, and those that a mask chooses."""
