"""A page on which a person labels rollouts, blind to who made them and to what the judge saw."""
