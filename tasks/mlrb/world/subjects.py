"""The 57 subjects of MMLU under the names that the hub's configurations have."""

_ALL = """
abstract_algebra anatomy astronomy business_ethics clinical_knowledge college_biology college_chemistry
college_computer_science college_mathematics college_medicine college_physics computer_security conceptual_physics
econometrics electrical_engineering elementary_mathematics formal_logic global_facts high_school_biology
high_school_chemistry high_school_computer_science high_school_european_history high_school_geography
high_school_government_and_politics high_school_macroeconomics high_school_mathematics high_school_microeconomics
high_school_physics high_school_psychology high_school_statistics high_school_us_history high_school_world_history
human_aging human_sexuality international_law jurisprudence logical_fallacies machine_learning management marketing
medical_genetics miscellaneous moral_disputes moral_scenarios nutrition philosophy prehistory
professional_accounting professional_law professional_medicine professional_psychology public_relations
security_studies sociology us_foreign_policy virology world_religions
"""
SUBJECTS = tuple(_ALL.split())


def spoken(subject: str) -> str:
    """The subject as lm-eval's header names it."""
    return subject.replace("_", " ")


def part(subject: str, parts: int) -> int:
    """Which of that many equal parts a subject is in; neighbours are in different ones."""
    return SUBJECTS.index(subject) % parts
