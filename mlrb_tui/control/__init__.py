"""What the app and the command line both do: launch, follow, steer, replay."""
