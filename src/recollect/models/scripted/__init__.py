"""Models that follow a script, so that a set-up is tested without a key, a bill or the network.

`ScriptedServer` speaks the wire formats of Anthropic, OpenAI and Gemini on loopback: the real SDKs, and hosts such as
Claude Code, talk to it unchanged. `ScriptedProvider` answers in this process, without the wire. Public: docs/models.md.
"""

from recollect.models.scripted.in_process import NoModels, ScriptedModels, ScriptedProvider
from recollect.models.scripted.script import Fault, Reply, Request, ToolUse
from recollect.models.scripted.server import ScriptedServer

__all__ = [
    "Fault",
    "NoModels",
    "Reply",
    "Request",
    "ScriptedModels",
    "ScriptedProvider",
    "ScriptedServer",
    "ToolUse",
]
