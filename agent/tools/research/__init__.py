"""Tools that ask GitHub and paper servers, from the runner: offered only where the task allows network."""
