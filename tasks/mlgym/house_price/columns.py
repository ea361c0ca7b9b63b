"""The columns of the houses table, in the published order, and the words its cells may hold."""

COLUMNS = tuple(
    """
    Id MSSubClass MSZoning LotFrontage LotArea Street Alley LotShape LandContour Utilities LotConfig LandSlope
    Neighborhood Condition1 Condition2 BldgType HouseStyle OverallQual OverallCond YearBuilt YearRemodAdd RoofStyle
    RoofMatl Exterior1st Exterior2nd MasVnrType MasVnrArea ExterQual ExterCond Foundation BsmtQual BsmtCond
    BsmtExposure BsmtFinType1 BsmtFinSF1 BsmtFinType2 BsmtFinSF2 BsmtUnfSF TotalBsmtSF Heating HeatingQC CentralAir
    Electrical 1stFlrSF 2ndFlrSF LowQualFinSF GrLivArea BsmtFullBath BsmtHalfBath FullBath HalfBath BedroomAbvGr
    KitchenAbvGr KitchenQual TotRmsAbvGrd Functional Fireplaces FireplaceQu GarageType GarageYrBlt GarageFinish
    GarageCars GarageArea GarageQual GarageCond PavedDrive WoodDeckSF OpenPorchSF EnclosedPorch 3SsnPorch ScreenPorch
    PoolArea PoolQC Fence MiscFeature MiscVal MoSold YrSold SaleType SaleCondition SalePrice
    """.split()  # noqa: SIM905 -- a list of words is read as words
)
TARGET = "SalePrice"
NEIGHBOURHOODS = tuple(
    """
    Blmngtn Blueste BrDale BrkSide ClearCr CollgCr Crawfor Edwards Gilbert IDOTRR MeadowV Mitchel NAmes NoRidge
    NPkVill NridgHt NWAmes OldTown SWISU Sawyer SawyerW Somerst StoneBr Timber Veenker
    """.split()  # noqa: SIM905
)
GRADES = ("Po", "Fa", "TA", "Gd", "Ex")

# Words that say nothing about the price here, with their shares: a model must find out that they don't.
NUISANCE: dict[str, tuple[tuple[str, float], ...]] = {
    "MSSubClass": (("20", 37), ("60", 20), ("50", 10), ("120", 6), ("30", 5), ("160", 4), ("70", 4), ("80", 4)),
    "MSZoning": (("RL", 79), ("RM", 15), ("FV", 4), ("RH", 1), ("C (all)", 1)),
    "Street": (("Pave", 99.6), ("Grvl", 0.4)),
    "Alley": (("NA", 94), ("Grvl", 3), ("Pave", 3)),
    "LotShape": (("Reg", 63), ("IR1", 33), ("IR2", 3), ("IR3", 1)),
    "LandContour": (("Lvl", 90), ("Bnk", 4), ("HLS", 3), ("Low", 3)),
    "Utilities": (("AllPub", 99.9), ("NoSeWa", 0.1)),
    "LotConfig": (("Inside", 72), ("Corner", 18), ("CulDSac", 6), ("FR2", 3), ("FR3", 1)),
    "LandSlope": (("Gtl", 95), ("Mod", 4), ("Sev", 1)),
    "Condition1": (("Norm", 86), ("Feedr", 6), ("Artery", 3), ("RRAn", 2), ("PosN", 1), ("RRAe", 1), ("PosA", 1)),
    "Condition2": (("Norm", 99), ("Feedr", 0.4), ("Artery", 0.2), ("PosN", 0.2), ("RRNn", 0.2)),
    "BldgType": (("1Fam", 84), ("TwnhsE", 8), ("Duplex", 3), ("Twnhs", 3), ("2fmCon", 2)),
    "RoofStyle": (("Gable", 78), ("Hip", 20), ("Flat", 1), ("Gambrel", 0.7), ("Mansard", 0.3)),
    "RoofMatl": (("CompShg", 98), ("Tar&Grv", 0.8), ("WdShngl", 0.5), ("WdShake", 0.4), ("Metal", 0.3)),
    "Exterior1st": (("VinylSd", 35), ("HdBoard", 15), ("MetalSd", 15), ("Wd Sdng", 14), ("Plywood", 8), ("BrkFace", 4)),
    "Exterior2nd": (("VinylSd", 35), ("MetalSd", 15), ("HdBoard", 14), ("Wd Sdng", 14), ("Plywood", 10), ("Stucco", 2)),
    "ExterCond": (("TA", 88), ("Gd", 10), ("Fa", 2)),
    "Foundation": (("PConc", 44), ("CBlock", 44), ("BrkTil", 10), ("Slab", 1.6), ("Stone", 0.4)),
    "Heating": (("GasA", 98), ("GasW", 1.2), ("Grav", 0.5), ("Wall", 0.3)),
    "HeatingQC": (("Ex", 51), ("TA", 29), ("Gd", 17), ("Fa", 3)),
    "Electrical": (("SBrkr", 91.3), ("FuseA", 6.4), ("FuseF", 1.8), ("FuseP", 0.4), ("NA", 0.1)),
    "Functional": (("Typ", 93), ("Min2", 2.4), ("Min1", 2.2), ("Mod", 1.2), ("Maj1", 1), ("Maj2", 0.2)),
    "PavedDrive": (("Y", 92), ("N", 6), ("P", 2)),
    "Fence": (("NA", 81), ("MnPrv", 11), ("GdPrv", 4), ("GdWo", 4)),
    "MiscFeature": (("NA", 96), ("Shed", 3.6), ("Gar2", 0.2), ("Othr", 0.2)),
    "MoSold": tuple((str(month), share) for month, share in enumerate((4, 4, 7, 10, 14, 17, 16, 8, 4, 6, 6, 4), 1)),
    "YrSold": (("2006", 21), ("2007", 23), ("2008", 21), ("2009", 23), ("2010", 12)),
    "SaleType": (("WD", 87), ("New", 8), ("COD", 3), ("ConLD", 1), ("CWD", 1)),
    "SaleCondition": (("Normal", 82), ("Partial", 9), ("Abnorml", 7), ("Family", 1.4), ("Alloca", 0.6)),
}
