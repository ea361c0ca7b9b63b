"""SuperGLUE's eight tasks over the small world, in the columns of `aps/super_glue`, and lm-eval's forms of them."""
