"""Builds houses from a seed: what they are like, and what that makes of their price."""

import math
import random
from dataclasses import dataclass

from tasks.mlgym.house_price.columns import GRADES, NEIGHBOURHOODS, NUISANCE, TARGET

House = dict[str, str]
THIS_YEAR = 2010
NOISE = 0.075
OUTLIER_SHARE, OUTLIER_NOISE = 0.004, 0.25


@dataclass(frozen=True)
class Town:
    """What the neighbourhoods are worth: their level, and how much a square foot counts there."""

    level: dict[str, float]
    slope: dict[str, float]


def found_town(rng: random.Random) -> Town:
    """A town whose neighbourhoods differ in level (s.d. 0.18) and in what size is worth (s.d. 0.12)."""
    return Town(
        level={name: rng.gauss(0, 0.18) for name in NEIGHBOURHOODS},
        slope={name: rng.gauss(0, 0.12) for name in NEIGHBOURHOODS},
    )


def build_house(number: int, town: Town, rng: random.Random) -> House:
    """One house with its price."""
    house = {name: _drawn(choices, rng) for name, choices in NUISANCE.items()}
    house["Id"] = str(number)
    house["Neighborhood"] = rng.choice(NEIGHBOURHOODS)
    for part in (_character, _size, _basement, _garage, _comfort, _outside):
        part(house, rng)
    house[TARGET] = str(_price(house, town, rng))
    for name, share in (("LotFrontage", 0.18), ("MasVnrArea", 0.006)):
        if rng.random() < share:
            house[name] = "NA"
    return house


def _drawn(choices: tuple[tuple[str, float], ...], rng: random.Random) -> str:
    words, shares = zip(*choices, strict=True)
    return str(rng.choices(words, shares)[0])


def _number(value: float, low: float, high: float) -> str:
    return str(round(min(max(value, low), high)))


def _character(house: House, rng: random.Random) -> None:
    house["OverallQual"] = _number(rng.gauss(6.1, 1.4), 1, 10)
    house["OverallCond"] = _number(rng.gauss(5.6, 1.1), 1, 10)
    age = min(rng.gammavariate(2, 18), 135)
    house["YearBuilt"] = _number(THIS_YEAR - age, 1872, THIS_YEAR)
    house["YearRemodAdd"] = _number(THIS_YEAR - age * rng.random(), 1950, THIS_YEAR)
    house["ExterQual"] = _grade(int(house["OverallQual"]) / 2 + rng.gauss(-0.4, 0.7))
    house["HouseStyle"] = rng.choice(("1Story", "1Story", "2Story", "1.5Fin", "SLvl", "SFoyer"))


def _grade(level: float) -> str:
    """A level from 0 to 5 as one of the five words for it."""
    return GRADES[min(max(round(level) - 1, 0), 4)]


def _size(house: House, rng: random.Random) -> None:
    area = min(max(rng.lognormvariate(7.27, 0.33), 334), 5642)
    upstairs = area * rng.uniform(0.35, 0.55) if house["HouseStyle"] in ("2Story", "1.5Fin") else 0.0
    house["GrLivArea"] = _number(area, 334, 5642)
    house["2ndFlrSF"] = _number(upstairs, 0, 3000)
    house["1stFlrSF"] = _number(area - upstairs, 300, 5000)
    house["LowQualFinSF"] = "0" if rng.random() < 0.98 else _number(rng.uniform(50, 500), 50, 500)
    lot = rng.lognormvariate(9.11, 0.5)
    house["LotArea"] = _number(lot, 1300, 215245)
    house["LotFrontage"] = _number(math.sqrt(lot) * rng.uniform(0.5, 0.95), 21, 313)
    rooms = area / 260 + rng.gauss(0.6, 0.8)
    house["TotRmsAbvGrd"] = _number(rooms, 2, 14)
    house["BedroomAbvGr"] = _number(rooms * 0.45, 0, 8)
    house["FullBath"] = _number(area / 1000 + rng.gauss(0.1, 0.3), 1, 3)
    house["HalfBath"] = "1" if rng.random() < 0.37 else "0"
    house["KitchenAbvGr"] = "1" if rng.random() < 0.95 else "2"


def _basement(house: House, rng: random.Random) -> None:
    words = ("BsmtQual", "BsmtCond", "BsmtExposure", "BsmtFinType1", "BsmtFinType2")
    numbers = ("BsmtFinSF1", "BsmtFinSF2", "BsmtUnfSF", "TotalBsmtSF", "BsmtFullBath", "BsmtHalfBath")
    if rng.random() < 0.026:
        house.update(dict.fromkeys(words, "NA") | dict.fromkeys(numbers, "0"))
        return
    total = int(house["1stFlrSF"]) * min(rng.uniform(0.75, 1.05), 1.0)
    finished = total * rng.uniform(0.1, 0.95) if rng.random() < 0.7 else 0.0
    second = min(rng.uniform(30, 400), total - finished) if rng.random() < 0.12 else 0.0
    house["TotalBsmtSF"] = _number(total, 105, 6110)
    house["BsmtFinSF1"], house["BsmtFinSF2"] = _number(finished, 0, 5644), _number(second, 0, 1474)
    house["BsmtUnfSF"] = _number(total - finished - second, 0, 2336)
    house["BsmtQual"] = _grade(int(house["OverallQual"]) / 2 + rng.gauss(0, 0.6))
    house["BsmtCond"] = _drawn((("TA", 92), ("Gd", 5), ("Fa", 3)), rng)
    house["BsmtExposure"] = _drawn((("No", 67), ("Av", 15), ("Gd", 9), ("Mn", 9)), rng)
    house["BsmtFinType1"] = rng.choice(("GLQ", "ALQ", "BLQ", "Rec", "LwQ")) if finished else "Unf"
    house["BsmtFinType2"] = rng.choice(("ALQ", "BLQ", "Rec", "LwQ")) if second else "Unf"
    house["BsmtFullBath"] = "1" if finished and rng.random() < 0.55 else "0"
    house["BsmtHalfBath"] = "1" if rng.random() < 0.055 else "0"


def _garage(house: House, rng: random.Random) -> None:
    words = ("GarageType", "GarageYrBlt", "GarageFinish", "GarageQual", "GarageCond")
    if rng.random() < 0.055:
        house.update(dict.fromkeys(words, "NA") | {"GarageCars": "0", "GarageArea": "0"})
        return
    cars = rng.choices((1, 2, 3), (27, 60, 13))[0]
    house["GarageCars"] = str(cars)
    house["GarageArea"] = _number(cars * 240 + rng.gauss(30, 60), 160, 1418)
    house["GarageType"] = _drawn((("Attchd", 63), ("Detchd", 28), ("BuiltIn", 6), ("Basment", 2), ("CarPort", 1)), rng)
    house["GarageYrBlt"] = _number(int(house["YearBuilt"]) + abs(rng.gauss(0, 3)), 1900, THIS_YEAR)
    house["GarageFinish"] = rng.choice(("Unf", "RFn", "Fin"))
    house["GarageQual"] = _drawn((("TA", 95), ("Fa", 4), ("Gd", 1)), rng)
    house["GarageCond"] = _drawn((("TA", 96), ("Fa", 3), ("Gd", 1)), rng)


def _comfort(house: House, rng: random.Random) -> None:
    house["CentralAir"] = "Y" if rng.random() < 0.935 else "N"
    house["KitchenQual"] = _grade(int(house["OverallQual"]) / 2 + rng.gauss(0.2, 0.8))
    fires = rng.choices((0, 1, 2, 3), (47, 44, 8, 1))[0]
    house["Fireplaces"] = str(fires)
    house["FireplaceQu"] = _grade(rng.gauss(3.5, 0.8)) if fires else "NA"


def _outside(house: House, rng: random.Random) -> None:
    house["MasVnrType"] = _drawn((("None", 59), ("BrkFace", 31), ("Stone", 9), ("BrkCmn", 1)), rng)
    house["MasVnrArea"] = "0" if house["MasVnrType"] == "None" else _number(rng.lognormvariate(5.3, 0.6), 1, 1600)
    porches = {"WoodDeckSF": 0.52, "OpenPorchSF": 0.55, "EnclosedPorch": 0.14, "3SsnPorch": 0.016, "ScreenPorch": 0.08}
    for name, share in porches.items():
        house[name] = _number(rng.lognormvariate(4.7, 0.6), 10, 800) if rng.random() < share else "0"
    has_pool = rng.random() < 0.005
    house["PoolArea"] = _number(rng.uniform(480, 740), 480, 740) if has_pool else "0"
    house["PoolQC"] = rng.choice(("Ex", "Gd", "Fa")) if has_pool else "NA"
    house["MiscVal"] = "0" if house["MiscFeature"] == "NA" else _number(rng.lognormvariate(6.3, 0.8), 50, 15500)


def _price(house: House, town: Town, rng: random.Random) -> int:
    """The price: additive in the logarithm, with interactions that a linear model on the raw price can't follow."""
    quality, condition = int(house["OverallQual"]) - 6, int(house["OverallCond"]) - 5.6
    age = (THIS_YEAR - int(house["YearBuilt"])) / 30
    size = math.log(int(house["GrLivArea"]) / 1450)
    where = house["Neighborhood"]
    worth = 11.98 + town.level[where] + (0.55 + town.slope[where]) * size
    worth += 0.085 * quality + 0.02 * condition - 0.085 * age + 0.035 * condition * min(age, 3)
    worth += 0.13 * math.log(int(house["LotArea"]) / 9000)
    worth += 0.10 * int(house["TotalBsmtSF"]) / 1000 + 0.06 * int(house["BsmtFinSF1"]) / 1000
    worth += 0.045 * int(house["GarageCars"]) - 0.10 * (house["CentralAir"] == "N")
    worth += 0.03 * (GRADES.index(house["KitchenQual"]) - 2)
    worth += int(house["Fireplaces"]) * (0.03 + 0.014 * quality)
    worth += rng.gauss(0, OUTLIER_NOISE if rng.random() < OUTLIER_SHARE else NOISE)
    return round(min(max(math.exp(worth), 34900), 1_500_000) / 50) * 50
