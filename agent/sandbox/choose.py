"""Which sandbox a run gets: the one that was asked for, else docker where it works, else local with a warning."""

from agent.errors import SandboxUnavailable
from agent.record.home import Home
from agent.sandbox.base import Sandbox, SandboxPlan
from agent.sandbox.engine import DEFAULT_IMAGE, docker_answers, image_is_there
from agent.sandbox.machines import machine_of, on_another

__all__ = ["choose", "docker_answers", "kind_without_wish", "where_graded", "where_to_grade"]


def choose(kind: str | None, plan: SandboxPlan) -> Sandbox:
    """The sandbox for `kind`: `local`, `docker`, `docker@HOST`, or None for whichever works.

    Raises `SandboxUnavailable` where that kind can't be had. Why local was taken without having been asked for
    stands in `kind_without_wish`.
    """
    if not kind:
        kind, _ = kind_without_wish(plan.image)
    match kind:
        case "local":
            from agent.sandbox.local import LocalSandbox

            return LocalSandbox(plan)
        case "docker":
            from agent.sandbox.docker import DockerSandbox

            return DockerSandbox(plan)
    if on_another(kind):
        from agent.sandbox.remote import RemoteDockerSandbox

        # A run's folder lies below its home, which says what machines there are.
        return RemoteDockerSandbox(plan, machine_of(Home(plan.folder.parent.parent), kind))
    raise SandboxUnavailable(f"there is no sandbox {kind!r}", hint="use --sandbox docker, docker@HOST or local")


def where_to_grade(sandbox: str, image: str) -> str:
    """Where the submission of a run with that sandbox is graded: `local`, `docker` or `docker@HOST`.

    A run on another machine is graded here where that can be: what is held out need not leave.
    """
    if not on_another(sandbox):
        return "docker" if sandbox.startswith("docker") else "local"
    return "docker" if docker_answers() and image_is_there(image or DEFAULT_IMAGE) else sandbox


def where_graded(sandbox: str) -> tuple[str, ...]:
    """Where containers that grade a run with that sandbox may be."""
    if not on_another(sandbox):
        return ("docker",) if sandbox.startswith("docker") else ()
    return ("docker", sandbox) if docker_answers() else (sandbox,)


def kind_without_wish(image: str) -> tuple[str, str]:
    """The kind taken where none was asked for, and the warning that goes with it (empty for docker)."""
    if not docker_answers():
        return "local", "no Docker daemon answers, so commands run here without isolation (--sandbox local)"
    image = image or DEFAULT_IMAGE
    if not image_is_there(image):
        return "local", (
            f"there is no image {image!r} yet, so commands run here without isolation; `mlrb image build` makes it"
        )
    return "docker", ""
