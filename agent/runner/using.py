"""Runs one tool call: gate, record, arguments, the tool itself, what the model is told of it."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from agent.errors import ReplyMalformed, SandboxError, SandboxUnreachable
from agent.models.base import Message
from agent.record import events as ev
from agent.record.text import one_line
from agent.record.values import ToolCall
from agent.runner.approvals import Approvals, Word, edited_call, told_of_edit, told_of_rejection
from agent.runner.calls import Bench, CallContext, Earlier
from agent.runner.conversation import Conversation
from agent.runner.cut_call import CUT_OFF, CutCall
from agent.runner.gates import Gates
from agent.runner.journal import Journal
from agent.sandbox.base import StartedSandbox
from agent.tools.arguments import problems
from agent.tools.base import Tool, ToolResult

MOST_BAD_CALLS = 5


class Using:
    """Runs tool calls one at a time, and lets a person cut one short."""

    def __init__(
        self,
        *,
        bench: Bench,
        conversation: Conversation,
        gates: Gates,
        approvals: Approvals,
        tools: Mapping[str, Tool],
    ) -> None:
        self._journal: Journal = bench.journal
        self._conversation = conversation
        self._gates = gates
        self._approvals = approvals
        self._tools = tools
        self._bench = bench
        self._running: asyncio.Task[ToolResult] | None = None
        self._cut_by = ""
        self._bad_in_a_row = 0

    @property
    def busy(self) -> bool:
        """Whether a tool runs."""
        return self._running is not None

    async def use(self, call: ToolCall) -> Message:
        """Run the call; raises `ReplyMalformed` after too many in a row that could not be run."""
        await self._gates.before_tool()
        tool = self._tools.get(call.tool)
        trouble = _trouble(tool, call, self._tools)
        if trouble:
            self._called(tool, call)
            return self._refused(call, trouble)
        assert tool is not None
        self._bad_in_a_row = 0
        word = await self._approvals.ask(call, tool, self._journal)
        if word is not None and word.decision == "rejected":
            self._called(tool, call)
            return self._rejected(call, word)
        told = ""
        if word is not None and word.decision == "edited":
            told, call = told_of_edit(call, tool, word), edited_call(call, tool, word)
        await self._gates.before_tool()
        context = CallContext(self._bench, call.call_id, self._called(tool, call))
        return await self._do(tool, call, told, context)

    async def take_up(self, call: ToolCall, cut: CutCall, started: StartedSandbox) -> Message:
        """Bring a call to its end that a runner before us had begun, without doing anything twice."""
        await self._gates.before_tool()
        tool = self._tools.get(call.tool)
        trouble = _trouble(tool, call, self._tools)
        if trouble:
            return self._refused(call, trouble)
        assert tool is not None
        if cut.word is not None and cut.word.decision == "rejected":
            return self._rejected(call, cut.word)
        told = ""
        if cut.word is not None and cut.word.decision == "edited":
            told, call = told_of_edit(call, tool, cut.word), edited_call(call, tool, cut.word)
        self._journal.append(
            ev.ToolTakenUp(
                call_id=call.call_id, tool=call.tool, summary=cut.called.summary, worked_s=cut.worked_alone_s(started)
            )
        )
        context = CallContext(self._bench, call.call_id, cut.called.command_id, Earlier(cut, cut.standing(started)))
        if not tool.can_repeat:
            result = ToolResult(observation=told + CUT_OFF, failed=True)
            return self._record(call, result, self._journal.now(), context)
        return await self._do(tool, call, told, context)

    async def _do(self, tool: Tool, call: ToolCall, told: str, context: CallContext) -> Message:
        """Run it and record what came of it; `told` goes above what the agent reads."""
        started_at = self._journal.now()
        try:
            result = await self._run(tool, context, call)
        except SandboxUnreachable:
            # It may go on out of our sight: whoever takes the run up finds out.
            raise
        except (asyncio.CancelledError, SandboxError) as error:
            if self._gates.left:
                raise
            lost = isinstance(error, SandboxError)
            ended = "the run ended" if self._gates.over else "this worker was stopped"
            said = "the sandbox was lost while this ran" if lost else f"cut off: {ended} while this ran"
            self._record(call, ToolResult(observation=told + said, failed=True), started_at, context)
            raise
        return self._record(call, replace(result, observation=told + result.observation), started_at, context)

    async def interrupt(self, by: str) -> bool:
        """End the running command, or the tool itself where it runs none; False where nothing runs."""
        task = self._running
        if task is None or task.done():
            return False
        self._cut_by = by or "someone"
        if await self._bench.session.interrupt():
            return True
        if task.done():
            return False
        task.cancel()
        return True

    async def _run(self, tool: Tool, context: CallContext, call: ToolCall) -> ToolResult:
        self._cut_by = ""
        self._running = asyncio.ensure_future(tool.run(context, call.arguments))
        try:
            return await self._running
        except asyncio.CancelledError:
            # Cancelled from outside is the end of the run; cut by a person is an answer to the model.
            if not self._cut_by or self._gates.over:
                raise
            said = f"interrupted by the operator before {call.tool} was done"
            return ToolResult(observation=said, failed=True, interrupted=True)
        finally:
            self._running = None

    def _called(self, tool: Tool | None, call: ToolCall) -> str:
        """Record that it begins; returns the name that a command of its would have in the sandbox."""
        # The model chooses call ids, so they are not fit to name a command, which may name a file.
        command_id = self._journal.fresh_id("c")
        self._journal.append(
            ev.ToolCalled(
                call_id=call.call_id, tool=call.tool, arguments=call.arguments, summary=_summary(tool, call),
                command_id=command_id,
            )
        )  # fmt: skip
        return command_id

    def _rejected(self, call: ToolCall, word: Word) -> Message:
        """A person did not let it run: the agent is told why."""
        result = ToolResult(observation=told_of_rejection(call, word), failed=True)
        context = CallContext(self._bench, call.call_id)
        return self._record(call, result, self._journal.now(), context, rejected_by=word.by or "someone")

    def _record(
        self,
        call: ToolCall,
        result: ToolResult,
        started_at: float,
        context: CallContext,
        *,
        rejected_by: str = "",
        refused: bool = False,
    ) -> Message:
        message_id = self._conversation.next_id()
        self._journal.append(
            ev.ToolFinished(
                call_id=call.call_id,
                message_id=message_id,
                tool=call.tool,
                exit_code=result.exit_code,
                failed=result.failed,
                duration_s=self._journal.now() - started_at if result.duration_s is None else result.duration_s,
                observation=result.observation,
                timed_out=result.timed_out,
                interrupted_by=self._cut_by if result.interrupted else "",
                rejected_by=rejected_by,
                refused=refused,
                oom_kills=result.oom_kills,
                output_bytes=result.output_bytes,
                output_lines=result.output_lines or context.output_lines,
            )
        )
        return self._conversation.observed(message_id, call.call_id, result.observation, failed=result.failed)

    def _refused(self, call: ToolCall, trouble: str) -> Message:
        self._bad_in_a_row += 1
        result = ToolResult(observation=trouble, failed=True)
        context = CallContext(self._bench, call.call_id)
        message = self._record(call, result, self._journal.now(), context, refused=True)
        if self._bad_in_a_row >= MOST_BAD_CALLS:
            raise ReplyMalformed(
                f"{self._bad_in_a_row} tool calls in a row could not be run: {one_line(trouble)}",
                hint="the model may not be able to use tools",
            )
        return message


def _summary(tool: Tool | None, call: ToolCall) -> str:
    """The call as one would type it; whatever its arguments are."""
    return tool.summarize(call.arguments) if tool is not None and not call.malformed else call.malformed


def _trouble(tool: Tool | None, call: ToolCall, tools: Mapping[str, Tool]) -> str:
    """Why the call cannot be run, in words for the model; empty when it can."""
    if tool is None:
        return f"there is no tool {one_line(call.tool, 80)!r}; there are: {', '.join(tools)}"
    if call.malformed:
        said = f"the arguments of {call.tool} were not a JSON object, or too long or too deep a one"
        return f"{said}, so nothing was run: {one_line(call.malformed)}"
    found = problems(tool.spec, call.arguments)
    return f"{call.tool} was not run: {'; '.join(found)}" if found else ""
