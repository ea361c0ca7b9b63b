"""Makes the recorded outputs of this folder by really training something small with each tool.

`python -m tests.logs.training.make NAME FOLDER` writes what the tool prints to `FOLDER/NAME.txt`. The tools
(transformers, lightning, keras, tensorboard) are needed only here: the tests read what was recorded.
`nanogpt`, `json_lines` and `key_value` fit a line in plain Python and print as such programs do.
"""

import subprocess
import sys
from pathlib import Path

TRANSFORMERS = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=50, n_positions=16))
rows = [{"input_ids": ids, "labels": ids} for ids in torch.randint(0, 50, (64, 16))]
arguments = TrainingArguments(output_dir="out", num_train_epochs=3, per_device_train_batch_size=8, logging_steps=4,
    eval_strategy="epoch", save_strategy="no", report_to=[], learning_rate=1e-3, use_cpu=True)
Trainer(model=model, args=arguments, train_dataset=rows, eval_dataset=rows[:16]).train()
"""

LIGHTNING = """
import lightning, torch
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def training_step(self, batch, _):
        loss = ((self.layer(batch[0]) - batch[1]) ** 2).mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss
    def validation_step(self, batch, _):
        self.log("val_loss", ((self.layer(batch[0]) - batch[1]) ** 2).mean(), prog_bar=True)
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.05)
torch.manual_seed(0)
x = torch.randn(320, 8)
data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
loader = torch.utils.data.DataLoader(data, batch_size=16)
trainer = lightning.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False,
    callbacks=[lightning.pytorch.callbacks.TQDMProgressBar(refresh_rate=10)])
trainer.fit(Model(), loader, torch.utils.data.DataLoader(data, batch_size=64))
"""

KERAS = """
import os
os.environ["KERAS_BACKEND"] = "torch"
import keras, numpy as np
keras.utils.set_random_seed(0)
x = np.random.randn(256, 8).astype("float32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, (x.sum(1) > 0).astype("float32"), epochs=3, batch_size=32, validation_split=0.25, verbose=VERBOSE)
"""

TQDM = """
import time
from tqdm import tqdm
for epoch in tqdm(range(3), desc="epochs"):
    bar = tqdm(range(40), desc=f"epoch {epoch}", leave=False)
    for step in bar:
        time.sleep(0.01)
        bar.set_postfix(loss=4 / (1 + epoch * 40 + step), lr=1e-3)
"""

TENSORBOARD = """
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter("tensorboard")
for step in range(6):
    writer.add_scalar("train/loss", 4 / (1 + step), step * 10, walltime=1_780_000_000 + step)
    writer.add_scalar("val/accuracy", step / 10, step * 10, walltime=1_780_000_000 + step)
writer.add_scalar("train/loss", float("nan"), 60, walltime=1_780_000_006)
writer.add_text("notes", "not a number", 60, walltime=1_780_000_006)
writer.close()
"""

PLAIN = """
import json
weight, rate = 0.0, 0.4
print("tokens per iteration will be: 1,024")
for step in range(0, 60, 10):
    loss = (weight - 1) ** 2 * 4 + 0.1
    PRINT
    weight += rate * (1 - weight)
"""
NANOGPT = PLAIN.replace(
    "PRINT",
    """if step % 20 == 0:
        print(f"step {step}: train loss {loss:.4f}, val loss {loss + 0.2:.4f}")
    print(f"iter {step}: loss {loss:.4f}, time {234.5 - step:.2f}ms, mfu {12 + step / 10:.2f}%")""",
)
JSON_LINES = PLAIN.replace(
    "PRINT",
    """row = {"step": step, "loss": loss, "lr": rate / 1000, "tokens_per_sec": 1000 + step, "val_acc": 1 - loss / 9}
    print(json.dumps(row))""",
)
KEY_VALUE = PLAIN.replace("PRINT", 'print(f"step={step}/60 loss={loss:.5g} lr={rate / 1000:.1e} tok/s={1000 + step}")')

TOOLS = {
    "nanogpt": NANOGPT,
    "json_lines": JSON_LINES,
    "key_value": KEY_VALUE,
    "transformers": TRANSFORMERS,
    "transformers_tokens": TRANSFORMERS.replace("use_cpu=True", "use_cpu=True, include_num_input_tokens_seen=True"),
    "lightning": LIGHTNING,
    "keras": KERAS.replace("VERBOSE", "1"),
    "keras_lines": KERAS.replace("VERBOSE", "2"),
    "tqdm": TQDM,
    "tensorboard": TENSORBOARD,
}


def main(name: str, folder: Path) -> None:
    """Run that tool and keep what it prints."""
    command = [sys.executable, "-W", "ignore", "-c", TOOLS[name]]
    made = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    (folder / f"{name}.txt").write_bytes(made.stdout)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
