"""What a grader asks of a model folder: does it load, what does it cost, and which rules do its weights and data break.

`artefact` opens a submission safely, `measure` takes its figures, `text_metrics` compares texts. Each check of a rule
is a small function that returns violations with evidence: `training` and `corpus` (training evidence, data consumed,
tokenizer), `scratch` (no pretrained weights), `quantised`, `compressed`, `merged`, `overlap` (benchmark data in the
training data), `limits` (parameters, memory, time). Torch and transformers are imported inside functions only.
"""
