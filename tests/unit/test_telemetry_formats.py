"""Lines as the well-known trainers print them give their figures; lines of anything else give none."""

import pytest

from agent.record.values import Progress
from agent.telemetry.progress import read_line

_ESCAPE = "\x1b[3"

TRAININGS = [
    # PyTorch's examples
    ("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300039",
     Progress(values={"loss": 2.300039}, step=640, total=60000, epoch=1)),
    ("Test set: Average loss: 0.0521, Accuracy: 9834/10000 (98%)",
     Progress(values={"eval_loss": 0.0521, "eval_accuracy": 0.9834})),
    ("Epoch: [0][ 10/5005]\tTime  0.503 ( 0.612)\tLoss 6.9e+00 (6.95e+00)\tAcc@1   0.00 (  0.10)\tAcc@5   0.39",
     Progress(values={"loss": 6.9, "accuracy": 0.0, "top5_accuracy": 0.39}, step=10, total=5005, epoch=0)),
    # torchtune, torchtitan
    ("1|10|Loss: 2.345:   3%|▎         | 10/300 [00:12<05:48,  1.25s/it]",
     Progress(values={"loss": 2.345}, step=10, total=300, rate=0.8, rate_unit="it/s", eta_s=348.0, label="loss")),
    ("Step 10 | loss:2.345 lr:2e-05 tokens_per_second_per_gpu:1234.5 grad_norm:1.2",
     Progress(values={"loss": 2.345, "lr": 2e-05, "grad_norm": 1.2}, step=10, rate=1234.5, rate_unit="tok/s")),
    (f"[rank0]: - INFO - {_ESCAPE}1mstep: 10  {_ESCAPE}2mloss:  8.1234  {_ESCAPE}4mtps: 12,345  {_ESCAPE}5mmfu: 14.62%",
     Progress(values={"loss": 8.1234, "mfu": 14.62}, step=10, rate=12345.0, rate_unit="tok/s")),
    # axolotl, LLaMA-Factory, Hugging Face with a count of tokens
    ("{'loss': 1.2345, 'learning_rate': 5e-05, 'ppl': 3.43, 'tokens_per_second_per_gpu': 1234.5, 'epoch': 0.1}",
     Progress(values={"loss": 1.2345, "lr": 5e-05, "perplexity": 3.43, "epoch": 0.1}, rate=1234.5, rate_unit="tok/s")),
    ("[INFO|2024-09-01 10:00:00] llamafactory.train.callbacks:157 >> {'loss': 0.8, 'learning_rate': 1e-05}",
     Progress(values={"loss": 0.8, "lr": 1e-05})),
    ("{'loss': '3.652', 'num_input_tokens_seen': 12288, 'train_runtime': '7.354', 'train_tokens_per_second': '1671'}",
     Progress(values={"loss": 3.652, "tokens": 12288.0}, rate=1671.0, rate_unit="tok/s")),
    # DeepSpeed, Megatron, fairseq
    ("steps: 10 loss: 2.3456 iter time (s): 0.512 samples/sec: 31.234",
     Progress(values={"loss": 2.3456}, step=10, rate=31.234, rate_unit="samples/s")),
    (" iteration      100/    1000 | lm loss: 5.123456E+00 | loss scale: 1.0 | number of nan iterations:   0 |",
     Progress(values={"loss": 5.123456}, step=100, total=1000)),
    ("INFO | train_inner | epoch 001:    100 / 1234 loss=12.3, ppl=5123.4, wps=12345, gnorm=2.3",
     Progress(values={"loss": 12.3, "perplexity": 5123.4, "grad_norm": 2.3, "wps": 12345.0}, step=100, total=1234,
              epoch=1, rate=12345.0, rate_unit="tok/s")),
    ("INFO | valid | epoch 001 | valid on 'valid' subset | loss 10.2 | nll_loss 9.1 | ppl 600",
     Progress(values={"eval_loss": 10.2, "eval_nll_loss": 9.1, "eval_perplexity": 600.0})),
    # The nanoGPT family
    ("step:125/1750 val_loss:5.3012 train_time:12345ms step_avg:98.8ms",
     Progress(values={"eval_loss": 5.3012}, step=125, total=1750)),
    ("step 00010/21400 (0.05%) | loss: 9.123 | lrm: 1.00 | dt: 123.45ms | tok/sec: 1,234,567 | total time: 1.20m",
     Progress(values={"loss": 9.123}, step=10, total=21400, rate=1234567.0, rate_unit="tok/s")),
    ("Step 00250 | Validation bpb: 1.1234", Progress(values={"eval_bpb": 1.1234}, step=250)),
    ("step    1/18865 | loss 11.009 (+nanz)| norm 15.3 (+nanz)| lr 1.14e-06 | 51.2% bf16 MFU | 424242 tok/s",
     Progress(values={"loss": 11.009, "lr": 1.14e-06}, step=1, total=18865, rate=424242.0, rate_unit="tok/s")),
    ("Epoch 1 | iter 10 step 10 | loss train: 2.345, val: n/a | remaining time: 0:12:34",
     Progress(values={"loss": 2.345}, step=10, eta_s=754.0)),
    ("Epoch 1 | iter 20 step 20 | loss train: 2.345, val: 2.911 | iter time: 123.40 ms (step)",
     Progress(values={"loss": 2.345, "eval_loss": 2.911}, step=20)),
    # Boosting, scikit-learn, reinforcement learning
    ("[10]\ttrain-rmse:0.12300\teval-rmse:0.45600", Progress(values={"rmse": 0.123, "eval_rmse": 0.456}, step=10)),
    ("[10]\tvalidation_0-logloss:0.48123", Progress(values={"eval_logloss": 0.48123}, step=10)),
    ("[100]\ttraining's l2: 0.12345\tvalid_1's l2: 0.23456",
     Progress(values={"l2": 0.12345, "eval_l2": 0.23456}, step=100)),
    ("7:\tlearn: 0.68\ttest: 0.69\tbest: 0.69 (0)\ttotal: 50ms\tremaining: 49.9s",
     Progress(values={"loss": 0.68, "eval_loss": 0.69}, step=7, eta_s=49.9)),
    ("Iteration 1, loss = 0.34567890", Progress(values={"loss": 0.3456789}, step=1)),
    ("|    loss             | 0.0123      |", Progress(values={"loss": 0.0123})),
    ("global_step=1234, episodic_return=12.5", Progress(values={"reward": 12.5}, step=1234)),
    # Bars
    ("Epoch 3/10:  45%|████▌     | 450/1000 [00:10<00:12, 45.00it/s, loss=2.34, acc=45.2%]",
     Progress(values={"loss": 2.34, "accuracy": 45.2}, step=450, total=1000, rate=45.0, rate_unit="it/s", eta_s=12.0,
              label="epoch", epoch=3, epochs=10)),
    ("Validation: 100%|██████████| 10/10 [00:01<00:00,  9.90it/s, loss=2.1, lr=0.1]",
     Progress(values={"eval_loss": 2.1, "lr": 0.1}, step=10, total=10, rate=9.9, rate_unit="it/s", eta_s=0.0,
              label="validation")),
    (" 45%|████▌     | 4.5k/10.0k [00:10<00:12, 450it/s, loss: 2.34, ppl: 10.4]",
     Progress(values={"loss": 2.34, "perplexity": 10.4}, step=4500, total=10000, rate=450.0, rate_unit="it/s",
              eta_s=12.0)),
    ("123it [00:10, 12.30it/s, loss=2]", Progress(values={"loss": 2.0}, step=123, rate=12.3, rate_unit="it/s")),
    ("Epoch 1:  50%|█████     | 10/20 [00:01<00:01,  9.9it/s, v_num=0, train_loss_step=0.512]",
     Progress(values={"v_num": 0.0, "loss": 0.512}, step=10, total=20, rate=9.9, rate_unit="it/s", eta_s=1.0,
              label="epoch", epoch=1)),
    ("Epoch 0/9 ━━━━━━━━━━━━━━━╸━━━━━━━━━━ 42/100 0:00:10 • 0:00:05 12.30it/s v_num: 0.000 train_loss: 0.312",
     Progress(values={"loss": 0.312}, step=42, total=100, rate=12.3, rate_unit="it/s", eta_s=5.0,
              label="epoch", epoch=0, epochs=9)),
    ("Training ━━━━━━━━━━━━━━━╸━━━━━━━━━━━━━━━  50% 0:00:10",
     Progress(step=50, total=100, eta_s=10.0, label="training")),
    # Home-made
    ("2024-05-05 10:00:00,123 - INFO - __main__ - Step 1,200/8,000 - loss: 1,234.5 - 18.2k tok/s - ETA: 0:41:00",
     Progress(values={"loss": 1234.5}, step=1200, total=8000, rate=18200.0, rate_unit="tok/s", eta_s=2460.0)),
    ("Epoch [3/10], Step [100/600], Loss: 0.3456",
     Progress(values={"loss": 0.3456}, step=100, total=600, epoch=3, epochs=10)),
    ("Epoch 1: train loss 1.234 acc 0.412 | val loss 2.345 acc 0.300",
     Progress(values={"loss": 1.234, "accuracy": 0.412, "eval_loss": 2.345, "eval_accuracy": 0.3})),
    ("[eval] step 100 loss: 2.34 acc: 51.2% lr: 0.1",
     Progress(values={"eval_loss": 2.34, "eval_accuracy": 51.2, "lr": 0.1}, step=100)),
    ("step 100: loss 1.5e-3, 250 ms/step", Progress(values={"loss": 0.0015}, step=100, rate=4.0, rate_unit="it/s")),
    ("step 3 loss 2.5 best loss 1.2", Progress(values={"loss": 2.5}, step=3)),
    ('{"step": 5, "train": {"loss": 2.0, "acc": 0.5}, "val": {"loss": 3.0, "acc": 0.4}}',
     Progress(values={"loss": 2.0, "accuracy": 0.5, "eval_loss": 3.0, "eval_accuracy": 0.4}, step=5)),
    ('{"step": 5, "loss": 3.0, "split": "val"}', Progress(values={"eval_loss": 3.0}, step=5)),
    ("Epoch 1: 50%", Progress(step=50, total=100, epoch=1)),
    # What there is to learn from
    ("train has 301,966 tokens", Progress(data_tokens=301966.0)),
    ("Training tokens: 9,876,543 | Val tokens: 12,345", Progress(data_tokens=9876543.0)),
    ("Loaded 1.2M training tokens", Progress(data_tokens=1.2e6)),
    # A loss that is none
    ("Loss is nan, stopping training", Progress(diverged=("loss",))),
    ("Validation: 100%|##########| 10/10 [00:01<00:00, 10.00it/s, loss=nan]",
     Progress(step=10, total=10, rate=10.0, rate_unit="it/s", eta_s=0.0, label="validation", diverged=("eval_loss",))),
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), TRAININGS, ids=lambda each: each[:60] if isinstance(each, str) else "")
def test_line_of_a_well_known_trainer_gives_its_figures(line: str, expected: Progress) -> None:
    assert read_line(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        # Downloads, copies and packages
        "   ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 12.3/45.6 MB 10.2 MB/s eta 0:00:03",
        "     |████████████████████████████████| 12.3 MB 10.2 MB/s eta 0:00:01",
        "model.safetensors:  45%|████▌     | 450M/1.00G [00:10<00:12, 45.0MB/s]",
        "model.safetensors:   0%|          | 0.00/1.00G [00:00<?, ?B/s]",
        "Receiving objects:  45% (450/1000), 1.20 MiB | 2.40 MiB/s",
        "Get:1 http://deb.debian.org/debian bookworm/main amd64 libfoo amd64 1.2-3 [12.3 kB]",
        "Fetched 12.3 MB in 3s (4,100 kB/s)",
        "(Reading database ... 45%",
        "model.bin           45%[========>           ]  450.1M  1.20MB/s    eta 3m 2s",
        "     12,345,678  45%    1.20MB/s    0:00:03 (xfr#1, to-chk=1/3)",
        "Step 3/12 : RUN pip install torch",
        "Collecting accelerate==0.20.3",
        # Tests and listings
        "tests/unit/test_loss.py::test_accuracy PASSED                    [ 50%]",
        "============================= 12 passed in 3.45s ==============================",
        "-rw-r--r-- 1 root root 7400 Nov 30 03:20 step_300.pt",
        "drwxr-xr-x 2 root root 4096 Nov 30 03:20 epoch 3",
        "Date: 2024-05-05 10:00:00 +0000",
        # Programs and configurations
        "    loss = 0.0",
        "    total_loss, loss = 0.0, 0.0",
        "train.py:12:    train_loss = 0.0  # reset",
        "best_val_loss = float('inf')",
        '    "learning_rate": 0.001,',
        "  lr: 3e-4",
        '{"learning_rate": 0.001, "batch_size": 32, "epochs": 10, "max_steps": 1000, "seed": 42}',
        "def train(model, epochs=10, lr=0.001, batch_size=32):",
        "optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)",
        "Namespace(lr=0.0003, steps=1000, batch=32)",
        "    if loss is nan:  # stop when the loss is NaN",
        "# stop when loss is NaN",
        "    return 0",
        "best val loss: inf",
        "RuntimeError: size mismatch at step 3",
        "vocabulary of 50 tokens, at most 512 tokens per sample",
        "val has 36,059 tokens",
    ],
)  # fmt: skip
def test_line_that_is_of_no_training_gives_nothing(line: str) -> None:
    assert read_line(line) is None
