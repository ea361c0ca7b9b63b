"""What several sessions of one sandbox promise, as tests that the local one and the docker one both run."""

import asyncio

from agent.sandbox.base import CommandResult, Session
from tests.process.sandbox_promises import STILL_S, Bench, passes, stands, until


class Running:
    """A command of a session that runs beside the test."""

    def __init__(self, session: Session, name: str, command: str, timeout_s: float = 30.0) -> None:
        self.output = bytearray()
        self.task: asyncio.Task[CommandResult] = asyncio.create_task(
            session.execute(command, command_id=name, timeout_s=timeout_s, on_output=self.output.extend)
        )

    async def says(self, text: str) -> None:
        """Wait until it has written that."""
        await until(lambda: text.encode() in bytes(self.output))


class SessionPromises:
    """The tests; a subclass gives the fixture `bench`."""

    async def test_commands_of_two_sessions_run_at_once_and_keep_their_own_state(self, bench: Bench) -> None:
        one, two = bench.sandbox.session(1), bench.sandbox.session(2)
        begin = "mkdir -p {0}; cd {0}; export WHO={0}; touch up; until [ -e ../{1}/up ]; do sleep 0.02; done"
        first = Running(one, "a", begin.format("x", "y"))
        second = Running(two, "b", begin.format("y", "x"))
        results = await asyncio.gather(first.task, second.task)
        assert [result.exit_code for result in results] == [0, 0]
        again = [Running(session, f"{index}", "echo $WHO; pwd") for index, session in enumerate((one, two))]
        await asyncio.gather(*(each.task for each in again))
        said = [bytes(each.output).decode().split() for each in again]
        assert [words[0] for words in said] == ["x", "y"], said
        assert [result.workdir[-2:] for result in results] == ["/x", "/y"]
        await two.write_file("from-host", b"h")
        assert await two.read_file("from-host") == b"h"
        assert (await bench.run("ls y/from-host; echo [$WHO]; pwd"))[1].startswith("y/from-host\n[]\n")

    async def test_interrupt_ends_all_of_one_session_and_nothing_of_another(self, bench: Bench) -> None:
        one, two = bench.sandbox.session(1), bench.sandbox.session(2)
        daemon = "(setsid bash -c 'while :; do date +%N > {0}; sleep 0.02; done' &) ; sleep 300"
        first = Running(one, "a", daemon.format("one.beat"))
        second = Running(two, "b", daemon.format("two.beat"))
        # The one that has the shell of its own gone, and no parent that tells whose it is, is found by its mark.
        await bench.run("until [ -s one.beat ] && [ -s two.beat ]; do sleep 0.02; done")
        assert await one.interrupt()
        result = await first.task
        assert (result.interrupted, result.left_alive) == (True, 0)
        beat = await one.read_file("one.beat")
        await passes(STILL_S)
        assert await one.read_file("one.beat") == beat
        assert not second.task.done()
        before = await two.read_file("two.beat")
        await bench.run(f"until [ \"$(cat two.beat)\" != '{before.decode().strip()}' ]; do sleep 0.02; done")
        assert await two.interrupt()
        assert (await second.task).left_alive == 0

    async def test_time_out_of_one_session_leaves_the_others_alone(self, bench: Bench) -> None:
        one, two = bench.sandbox.session(1), bench.sandbox.session(2)
        first = Running(one, "a", "trap '' TERM; while :; do :; done", timeout_s=0.5)
        second = Running(two, "b", "echo up; until [ -e go ]; do sleep 0.02; done; echo down")
        result = await first.task
        assert result.timed_out
        await bench.sandbox.write_file("go", b"")
        assert (await second.task).exit_code == 0
        assert bytes(second.output) == b"up\ndown\n"

    async def test_what_one_session_left_running_is_not_the_others(self, bench: Bench) -> None:
        one, two = bench.sandbox.session(1), bench.sandbox.session(2)
        left = await Running(one, "a", "setsid sleep 300 & sleep 300 & echo left").task
        assert left.left_alive == 2
        assert (await Running(two, "b", "true").task).left_alive == 0
        assert (await bench.run("true"))[0].left_alive == 0
        # Its own next command does not count what was there before either.
        assert (await Running(one, "c", "true").task).left_alive == 0

    async def test_frozen_sandbox_holds_every_session_and_no_time_counts(self, bench: Bench) -> None:
        sessions = [bench.sandbox.session(number) for number in (1, 2)]
        beat = "for i in $(seq 1 40); do echo $i; sleep 0.02; done"
        running = [Running(session, f"r{i}", beat, timeout_s=6.0) for i, session in enumerate(sessions)]
        for each in running:
            await each.says("1\n")
        await bench.sandbox.freeze()
        # What was on its way when it was frozen still arrives.
        await passes(0.3)
        await stands(lambda: [len(each.output) for each in running])
        await passes(6.0)
        await bench.sandbox.thaw()
        results = await asyncio.gather(*(each.task for each in running))
        assert [result.exit_code for result in results] == [0, 0]
        assert all(result.duration_s < 6.0 for result in results)

    async def test_much_output_of_one_session_does_not_hold_up_anothers(self, bench: Bench) -> None:
        one, two = bench.sandbox.session(1), bench.sandbox.session(2)
        loud = Running(one, "a", "timeout 20 yes", timeout_s=30.0)
        await loud.says("y\n")
        for count in range(5):
            quiet = Running(two, f"b{count}", f"echo {count}")
            await asyncio.wait_for(quiet.task, 10.0)
            assert bytes(quiet.output) == f"{count}\n".encode()
        await one.interrupt()
        await loud.task
