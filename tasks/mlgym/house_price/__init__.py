"""House price regression on a table with many gaps."""
