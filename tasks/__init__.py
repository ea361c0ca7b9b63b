"""What is asked: one folder a task, and the catalogue that reads them."""
