// Ringfence in front of pi's tools. Written by `ringfence install pi`.
// Whatever goes wrong here blocks the call.
import { spawnSync } from "node:child_process";

const PROGRAM = "@PROGRAM@";

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    const asked = { tool: event.toolName, args: event.input ?? {}, cwd: ctx.cwd ?? process.cwd() };
    const done = spawnSync(PROGRAM, ["hook", "pi"], {
      input: JSON.stringify(asked),
      encoding: "utf8",
      timeout: 10000,
    });
    let said;
    try {
      said = JSON.parse(done.stdout);
    } catch {
      return { block: true, reason: "Ringfence gave no answer, so the call did not run." };
    }
    if (done.status === 0 && said.decision === "allow") return undefined;
    if (done.status === 0 && said.decision === "ask" && ctx.hasUI) {
      if (await ctx.ui.confirm("Ringfence", said.reason ?? "Run this?")) return undefined;
      return { block: true, reason: "The user declined this call. Only this call was declined." };
    }
    return { block: true, reason: said.reason ?? "Refused by Ringfence." };
  });
}
