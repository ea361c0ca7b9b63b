"""The starter: ridge regression on the raw price. Prints its fit and writes submission.csv."""

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

TARGET = "SalePrice"


def build_model(features):
    """Fill the gaps, scale the numbers, one-hot the words, fit a ridge."""
    numeric = features.select_dtypes("number").columns
    words = features.columns.difference(numeric, sort=False)
    prepare = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()), list(numeric)),
            (
                "words",
                make_pipeline(
                    SimpleImputer(strategy="constant", fill_value="missing"),
                    OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                ),
                list(words),
            ),
        ]
    )
    return make_pipeline(prepare, Ridge(alpha=0.1))


def features_of(table):
    return table.drop(columns=["Id", TARGET], errors="ignore")


def main():
    train, validation, test = (pd.read_csv(f"data/{name}.csv") for name in ("train", "validation", "test"))
    model = build_model(features_of(train)).fit(features_of(train), train[TARGET])
    for name, table in (("train", train), ("validation", validation)):
        predicted = model.predict(features_of(table))
        rmse = mean_squared_error(table[TARGET], predicted) ** 0.5
        print(f"{name}: r2={r2_score(table[TARGET], predicted):.4f} rmse={rmse:,.0f}")
    predicted = model.predict(features_of(test))
    pd.DataFrame({"Id": test["Id"], TARGET: predicted}).to_csv("submission.csv", index=False)
    print(f"wrote submission.csv with {len(test)} rows")


if __name__ == "__main__":
    main()
