"""The grader in a container: apart from the network, the agent and what untrusted code could reach."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from docker.errors import DockerException, ImageNotFound

from agent.record.values import Score
from evaluation.errors import GraderFailed
from evaluation.grade import grade
from evaluation.in_container import DEFAULT_IMAGE
from evaluation.job import GradingProgress, Job
from tasks import catalogue
from tasks.prepare import prepare

pytestmark = pytest.mark.docker
RUN = f"grading-test-{os.getpid()}"
ALWAYS_0 = "def row_strategy(history):\n    return 0\n"


@pytest.fixture(scope="module")
def client() -> Iterator[docker.DockerClient]:
    try:
        client = docker.from_env(timeout=60)
        client.images.get(DEFAULT_IMAGE)
    except ImageNotFound:
        pytest.skip(f"the image {DEFAULT_IMAGE} is not built")
    except DockerException as error:
        pytest.skip(f"no docker daemon answers: {error}")
    yield client
    client.close()


@pytest.fixture(autouse=True)
def nothing_left(client: docker.DockerClient) -> Iterator[None]:
    """Whatever a grading did, no container of it stays."""
    yield
    assert client.containers.list(all=True, filters={"label": f"mlrb.run={RUN}"}) == []


def job_for(name: str, folder: Path, files: dict[str, str], *, games: int = 300, timeout_s: float = 120) -> Job:
    task = catalogue.load(name)
    prepare(task, "smoke", 0, folder / "data")
    submission = folder / "submission"
    submission.mkdir()
    for path, text in files.items():
        (submission / path).write_text(text)
    for path in task.spec.protected:
        if path not in files:
            (submission / path).write_bytes((task.starter / path).read_bytes())
    options = task.at("smoke").options
    small = {"test_games": games, "dev_games": games, "batch_timeout_s": 5}
    options = options | {key: value for key, value in small.items() if key in options}
    return Job(RUN, task, submission, folder / "data" / "private", "test", options, task.at("smoke").compute, timeout_s)


def in_docker(job: Job, image: str = "") -> Score:
    return grade(job, scale="smoke", isolation="docker", on_progress=lambda progress: None, image=image)


def probe(folder: Path, code: str) -> str:
    """What a task's `grade.py` finds inside, told by an error: `code` fills `said`."""
    own = folder / "own" / "probe"
    (own / "starter").mkdir(parents=True)
    toml = (catalogue.load("mlgym/battle_of_sexes").folder / "task.toml").read_text()
    (own / "task.toml").write_text(toml.replace("mlgym/battle_of_sexes", "own/probe").replace('"evaluate.py"', ""))
    body = "\n".join(f"    {line}" for line in code.splitlines())
    (own / "grade.py").write_text(
        "import json, os, socket\nfrom pathlib import Path\n"
        f"def grade(submission, private, *, split, options, report):\n{body}\n    raise ValueError(json.dumps(said))\n"
    )
    job = job_for("mlgym/battle_of_sexes", folder, {"strategy.py": ALWAYS_0})
    spec = catalogue.load("mlgym/battle_of_sexes").spec
    task = type(job.task)(spec=spec, folder=own)
    probing = Job(RUN, task, job.submission, job.private, "test", {}, job.compute, 60)
    return in_docker(probing).error


def test_a_solution_earns_the_same_as_in_a_local_grading(client: docker.DockerClient, tmp_path: Path) -> None:
    job = job_for("mlgym/battle_of_sexes", tmp_path, {"strategy.py": ALWAYS_0})
    said: list[GradingProgress] = []
    score = grade(job, scale="smoke", isolation="docker", on_progress=said.append)
    local = grade(job, scale="smoke", isolation="local", on_progress=lambda progress: None)
    assert (score.isolation, local.isolation) == ("docker", "local")
    assert score.valid
    assert score.value == local.value
    assert said[-1].done == said[-1].total == 300


def test_there_is_no_network_no_write_access_and_no_other_split(client: docker.DockerClient, tmp_path: Path) -> None:
    said = json.loads(
        probe(
            tmp_path,
            """
def works(call):
    try:
        call()
    except OSError:
        return False
    return True
said = {
    "interfaces": [name for _, name in socket.if_nameindex()],
    "connects": works(lambda: socket.create_connection(("8.8.8.8", 53), timeout=2)),
    "splits": sorted(os.listdir(private)),
    "writes submission": works(lambda: (submission / "x").write_text("x")),
    "writes private": works(lambda: (private / split / "x").write_text("x")),
    "writes code": works(lambda: Path("/grader/code/tasks/x").write_text("x")),
    "writes root": works(lambda: Path("/x").write_text("x")),
    "writes scratch": works(lambda: Path("/tmp/x").write_text("x")),
    "capabilities": next(l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("CapBnd")),
    "privileges": next(l for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("NoNewPrivs")),
}
""".strip(),
        )
    )
    assert said["interfaces"] == ["lo"]
    assert not said["connects"]
    assert said["splits"] == ["test"]
    assert [what for what, could in said.items() if what.startswith("writes") and could] == ["writes scratch"]
    # SETUID, SETGID and KILL: to make a strategy nobody, and to end it.
    assert int(said["capabilities"].split()[1], 16) == 1 << 5 | 1 << 6 | 1 << 7
    assert said["privileges"].split()[1] == "1"


REACHES = {
    "private data": "open('/grader/private/test/opponent.json')",
    "the result": "open('/grader/result/lines.jsonl', 'a')",
    "the grader's memory": "open(f'/proc/{os.getppid()}/mem', 'rb')",
    "another process": "os.kill(os.getppid(), 9)",
    "a child of its own": "os._exit(0) if os.fork() == 0 else None",
    "being root again": "os.setuid(0)",
}


@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
def test_a_strategy_past_the_allow_list_still_reaches_nothing(
    client: docker.DockerClient, tmp_path: Path, reach: str
) -> None:
    source = (
        f"import os\ndef row_strategy(h):\n    try:\n        {reach}\n"
        "    except BaseException:\n        return 0\n    return 1\n"
    )
    told = probe(
        tmp_path,
        "from evaluation.strategies import StrategyProcess\n"
        f"with StrategyProcess({source!r}, function='row_strategy', modules=(), seed=1, timeout_s=9) as player:\n"
        "    said = player.first_move()",
    )
    assert told == "0"


def test_a_home_of_another_user_can_be_read_and_a_strategy_still_ended(
    client: docker.DockerClient, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    hanging = "def row_strategy(h):\n    while h:\n        pass\n    return 0\n"
    job = job_for("mlgym/battle_of_sexes", tmp_path, {"strategy.py": ALWAYS_0})
    for folder in (job.private, job.submission):
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 1234, 1234)
            path.chmod(0o700 if path.is_dir() else 0o600)
    assert in_docker(job).valid
    (job.submission / "strategy.py").write_text(hanging)
    assert "took longer than 5 s" in in_docker(job).error


def test_a_hanging_strategy_is_ended(client: docker.DockerClient, tmp_path: Path) -> None:
    hanging = "def row_strategy(h):\n    while h:\n        pass\n    return 0\n"
    score = in_docker(job_for("mlgym/battle_of_sexes", tmp_path, {"strategy.py": hanging}))
    assert (score.valid, score.value) == (False, None)
    assert "took longer than 5 s" in score.error


def test_a_grader_that_takes_too_long_is_stopped(client: docker.DockerClient, tmp_path: Path) -> None:
    job = job_for("mlgym/battle_of_sexes", tmp_path, {"strategy.py": ALWAYS_0}, games=10_000_000, timeout_s=3)
    with pytest.raises(GraderFailed, match="not done in time"):
        in_docker(job)


def test_an_absent_image_is_a_plain_error_with_a_next_step(client: docker.DockerClient, tmp_path: Path) -> None:
    job = job_for("mlgym/battle_of_sexes", tmp_path, {"strategy.py": ALWAYS_0})
    with pytest.raises(GraderFailed, match="no image mlrb-absent:none") as caught:
        in_docker(job, "mlrb-absent:none")
    assert "mlrb image build" in caught.value.hint


def test_an_ended_grader_takes_its_container_along(client: docker.DockerClient, tmp_path: Path) -> None:
    code = (
        "import sys, signal; sys.path[:0] = [sys.argv[1]]; from evaluation import grade as g;"
        "signal.signal(signal.SIGTERM, g._leave); import test_grading_docker as t; from pathlib import Path;"
        "t.in_docker(t.job_for('mlgym/battle_of_sexes', Path(sys.argv[2]), {'strategy.py': t.ALWAYS_0}, games=10**7))"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path)])
    label: dict[str, str | list[str] | bool] = {"label": f"mlrb.run=grading-test-{process.pid}"}
    deadline = time.monotonic() + 60
    while not client.containers.list(filters=label) and time.monotonic() < deadline:
        assert process.poll() is None
    process.terminate()
    assert process.wait(60) != 0
    assert client.containers.list(all=True, filters=label) == []


@pytest.mark.eval
def test_prices_are_compared_with_the_starter_inside(client: docker.DockerClient, tmp_path: Path) -> None:
    job = job_for("mlgym/house_price", tmp_path, {"submission.csv": "Id,SalePrice\n"})
    assert "lacks 292 of 292" in in_docker(job).error
    data = tmp_path / "data" / "public"
    subprocess.run([sys.executable, str(job.task.starter / "baseline.py")], cwd=data, check=True, capture_output=True)
    (job.submission / "submission.csv").write_bytes((data / "submission.csv").read_bytes())
    score = in_docker(job)
    assert (score.untouched, score.valid) == (True, False)
    assert score.value == pytest.approx(score.baseline, abs=1e-9)
