"""An HTTP server on loopback that speaks the wire formats of Anthropic, OpenAI and Gemini from a script.

The real SDKs, and hosts such as Claude Code, talk to it unchanged.
"""

from scripted.script import Fault, Reply, Request, ToolUse
from scripted.server import ScriptedServer

__all__ = ["Fault", "Reply", "Request", "ScriptedServer", "ToolUse"]
