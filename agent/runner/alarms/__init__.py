"""What a person should look at, found by small pure rules over a run's own events and samples."""
