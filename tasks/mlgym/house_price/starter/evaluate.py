"""Checks the form of submission.csv, and scores predictions for the validation rows; for your own use."""

import sys

import pandas as pd


def check_submission(path="submission.csv"):
    """Say whether every Id of the test rows has one finite price."""
    test, given = pd.read_csv("data/test.csv"), pd.read_csv(path)
    wrong = sorted(set(test["Id"]) ^ set(given["Id"]))
    if wrong or given["Id"].duplicated().any():
        sys.exit(f"{path}: Ids missing, unknown or doubled, such as {wrong[:5]}")
    prices = pd.to_numeric(given["SalePrice"], errors="coerce")
    if prices.isna().any() or prices.abs().eq(float("inf")).any():
        sys.exit(f"{path}: some prices are not finite numbers")
    print(f"{path}: form is fine, {len(given)} rows")


def score_validation(path):
    """R2 and RMSE of predictions (Id, SalePrice) for the validation rows."""
    truth = pd.read_csv("data/validation.csv")[["Id", "SalePrice"]]
    joined = truth.merge(pd.read_csv(path), on="Id", suffixes=("", "_predicted"), validate="one_to_one")
    error = joined["SalePrice"] - joined["SalePrice_predicted"]
    r2 = 1 - (error**2).sum() / ((truth["SalePrice"] - truth["SalePrice"].mean()) ** 2).sum()
    print(f"validation rows={len(joined)} r2={r2:.4f} rmse={(error**2).mean() ** 0.5:,.0f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        score_validation(sys.argv[1])
    else:
        check_submission()
