"""Build the image that agents' commands run in: `python -m agent.sandbox.image` or `mlrb image build`."""

import argparse
import hashlib
import io
import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from agent.errors import SandboxUnavailable
from agent.record.text import printable
from agent.sandbox.engine import DEFAULT_IMAGE, client

DEFAULT_BASE = "debian:bookworm-slim"
RECIPE_LABEL = "mlrb.recipe"
RECIPE = Path(__file__).parent / "recipe" / "Dockerfile"

PROFILES: Mapping[str, tuple[str, ...]] = {
    "base": ("numpy",),
    # torch is pinned, so that pip takes the wheel at hand instead of a newer one with gigabytes of CUDA beside it.
    "eval": (
        "torch==2.13.0",
        "transformers>=5",
        "accelerate>=1.10",
        "datasets>=4",
        "lm-eval[hf]>=0.4.13",
        "rouge-score>=0.1.2",
        "sacrebleu>=2.5",
        "scikit-learn>=1.5",
        "pandas>=2",
        "msgspec>=0.19",
    ),
}
"""What pip puts into the image: `base` is enough for the games, `eval` for training and grading models."""

_CERTIFICATE_VARIABLES = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

OnLine = Callable[[str], None]


def build_image(
    base: str = DEFAULT_BASE,
    tag: str = DEFAULT_IMAGE,
    packages: Sequence[str] = PROFILES["eval"],
    on_line: OnLine = print,
    daemon: Path | None = None,
) -> str:
    """Build the image, with `daemon` on another machine, and return its id; each line of the build goes to `on_line`.

    Blocks: call it in a thread.

    The build uses this machine's network, certificates and, where `PIP_FIND_LINKS` names folders, the wheels in
    them that are among `packages`, so that it works behind a proxy and with a local wheel of torch.
    """
    with tempfile.TemporaryFile() as context:
        _write_context(context, packages, os.environ)
        context.seek(0)
        with client(daemon) as docker, _in_one_error():
            lines = docker.api.build(
                fileobj=context,
                custom_context=True,
                tag=tag,
                labels={RECIPE_LABEL: recipe_id(base, packages)},
                buildargs=_build_arguments(base, packages, os.environ),
                network_mode="host",
                rm=True,
                forcerm=True,
                decode=True,
            )
            for line in lines:
                _report(line, on_line)
            return str(docker.images.get(tag).id)


@contextmanager
def _in_one_error() -> Iterator[None]:
    import requests
    from docker.errors import DockerException

    try:
        yield
    except (DockerException, requests.RequestException) as error:
        raise SandboxUnavailable(
            f"the build was cut off: {printable(str(error))}", hint="build again: what is done is kept"
        ) from error


def recipe_id(base: str, packages: Sequence[str]) -> str:
    """What an image is made of, in a few letters: another recipe, base or list of packages has another."""
    made_of = (RECIPE.read_text(), base, *packages)
    return hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:16]


def is_current(base: str, tag: str, packages: Sequence[str]) -> bool:
    """Whether the image is there and was built from just this; raises `SandboxUnavailable` without a daemon."""
    from docker.errors import ImageNotFound

    with client() as docker:
        try:
            labels = docker.images.get(tag).labels
        except ImageNotFound:
            return False
        return labels.get(RECIPE_LABEL) == recipe_id(base, packages)


def _report(line: Mapping[str, Any], on_line: OnLine) -> None:
    if "error" in line:
        raise SandboxUnavailable(
            f"the image was not built: {printable(str(line['error']).strip())}",
            hint="the lines above say why; give another base with --base",
        )
    for text in str(line.get("stream", line.get("status", ""))).splitlines():
        if text.strip():
            on_line(printable(text.rstrip()))


def _build_arguments(base: str, packages: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    proxies = {name: environment[name] for name in _PROXY_VARIABLES if environment.get(name)}
    return {"BASE": base, "PACKAGES": " ".join(packages), **proxies}


def _write_context(file: IO[bytes], packages: Sequence[str], environment: Mapping[str, str]) -> None:
    with tarfile.open(fileobj=file, mode="w", dereference=True) as archive:
        archive.add(RECIPE, "Dockerfile")
        _add_folder(archive, "extra")
        _add_folder(archive, "extra/wheels")
        for wheel in matching_wheels(packages, environment.get("PIP_FIND_LINKS", "")):
            archive.add(wheel, f"extra/wheels/{wheel.name}")
        given = (environment.get(name, "") for name in _CERTIFICATE_VARIABLES)
        certificates = next((Path(path) for path in given if path and Path(path).is_file()), None)
        if certificates is not None:
            archive.add(certificates, "extra/certificates.pem")


def _add_folder(archive: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.DIRTYPE
    entry.mode = 0o755
    archive.addfile(entry, io.BytesIO())


def matching_wheels(packages: Sequence[str], find_links: str) -> list[Path]:
    """The wheels in the folders of `find_links` (as pip reads it) whose project is among `packages`."""
    wanted = {_project(re.split(r"[^A-Za-z0-9._-]", package, maxsplit=1)[0]) for package in packages}
    folders = [Path(entry.removeprefix("file://")) for entry in find_links.split()]
    return sorted(
        wheel
        for folder in folders
        if folder.is_dir()
        for wheel in folder.glob("*.whl")
        if _project(wheel.name.split("-", 1)[0]) in wanted
    )


def _project(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the image as asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m agent.sandbox.image", description=__doc__)
    parser.add_argument("--base", default=DEFAULT_BASE)
    parser.add_argument("--tag", default=DEFAULT_IMAGE)
    parser.add_argument("--profile", choices=sorted(PROFILES), default="eval")
    parser.add_argument("--if-needed", action="store_true", help="only where it is not there, or made otherwise")
    wish = parser.parse_args(arguments)
    packages = PROFILES[wish.profile]
    if not (wish.if_needed and is_current(wish.base, wish.tag, packages)):
        build_image(wish.base, wish.tag, packages, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
