"""The scaffold `mlrb`: a supervisor plans and reviews, workers carry the plan out, side by side where it allows."""
