"""Pre-training on a small corpus, judged by grammatical minimal pairs (BabyLM Strict-Small, BLiMP)."""
