"""Language models behind one protocol: a script, Anthropic's API, and all that speak OpenAI's."""
