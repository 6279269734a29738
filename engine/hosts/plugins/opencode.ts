// Ringfence in front of opencode's tools. Written by `ringfence install opencode`.
// Whatever goes wrong here throws, which stops the call.
import { spawnSync } from "node:child_process";

const PROGRAM = "@PROGRAM@";

export const Ringfence = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const asked = { tool: input.tool, args: output.args ?? {}, cwd: directory, session: input.sessionID };
    const done = spawnSync(PROGRAM, ["hook", "opencode"], {
      input: JSON.stringify(asked),
      encoding: "utf8",
      timeout: 10000,
    });
    let said;
    try {
      said = JSON.parse(done.stdout);
    } catch {
      throw new Error("Ringfence gave no answer, so the call did not run.");
    }
    if (done.status !== 0 || said.decision !== "allow") throw new Error(said.reason ?? "Refused by Ringfence.");
  },
});
