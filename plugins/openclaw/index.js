// OpenClaw's typed hooks as events of a session. All that is known about the memory is in `recollect hook`; this only
// carries payloads. Silent where the launcher that `recollect init` leaves is missing, or takes too long.
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";

const LAUNCHER = join(process.env.XDG_STATE_HOME || join(homedir(), ".local/state"), "recollect/bin/recollect");
const SECONDS = 10;

/** What Recollect answers to an event: the text for the agent, or nothing. */
function hook(event, ctx, given) {
  if (!ctx.sessionId) return undefined;
  const payload = { session_id: ctx.sessionId, cwd: ctx.workspaceDir, hook_event_name: event, ...given };
  return new Promise((done) => {
    const args = ["hook", event, "--host", "openclaw", "--pid", String(process.pid)];
    const child = spawn(LAUNCHER, args, { cwd: ctx.workspaceDir, timeout: SECONDS * 1000 });
    let said = "";
    child.on("error", () => done(undefined));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk) => (said += chunk));
    child.on("close", () => {
      try {
        done(JSON.parse(said).hookSpecificOutput?.additionalContext);
      } catch {
        done(undefined);
      }
    });
    child.stdin.end(JSON.stringify(payload));
  });
}

/** The words of a message, without pictures, thinking and calls. */
function words(message) {
  if (typeof message?.content === "string") return message.content;
  const blocks = Array.isArray(message?.content) ? message.content : [];
  return blocks.filter((block) => block.type === "text").map((block) => block.text).join("\n");
}

export default {
  id: "recollect",
  name: "Recollect",
  description: "A memory of the workspace",
  register(api) {
    const asked = new Map();
    const briefs = new Map();
    // OpenClaw keeps nothing of what is added to a turn: the brief is told again with each, in the system prompt.
    api.on("before_prompt_build", async (event, ctx) => {
      const prompt = event.currentUserMessage ?? event.prompt;
      if (!briefs.has(ctx.sessionId)) briefs.set(ctx.sessionId, await hook("SessionStart", ctx, { source: "startup" }));
      asked.set(ctx.sessionId, prompt);
      const found = await hook("UserPromptSubmit", ctx, { prompt });
      return { appendSystemContext: briefs.get(ctx.sessionId), prependContext: found };
    });
    api.on("agent_end", async (event, ctx) => {
      const last = event.messages.filter((message) => message?.role === "assistant").at(-1);
      await hook("Stop", ctx, { prompt: asked.get(ctx.sessionId), last_assistant_message: words(last) });
      asked.delete(ctx.sessionId);
    });
    api.on("before_compaction", (event, ctx) => hook("PreCompact", ctx, {}));
    api.on("session_end", (event, ctx) => {
      briefs.delete(event.sessionId);
      return hook("SessionEnd", { ...ctx, sessionId: event.sessionId }, { reason: event.reason });
    });
  },
};
