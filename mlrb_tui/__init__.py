"""How a person sees and steers it: the terminal app, the command line, and the views they share."""
