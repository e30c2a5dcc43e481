/** The shipped `run-code` in the real host, with a real workspace. */
import type { InnerCall } from "../../../host/services.ts";
import { createWorkspace } from "../../../plugins/workspace/workspace.ts";
import { temporaryFolder } from "../../support/home.ts";
import { openHomeStore } from "../../support/tools/home-store.ts";
import { builtComponent, capabilitiesOf } from "../../support/tools/shipped.ts";
import { install, toolHost } from "../../support/tools/tool-host.ts";

/** `timeoutSecs`: for code that ends at another limit. */
export async function openRunCode(timeoutSecs = 60) {
  const home = temporaryFolder();
  const store = openHomeStore(home);
  const workspace = await createWorkspace({ store, maxMb: 60, home });
  const host = await toolHost({ workspace }, home, store);
  const capabilities = JSON.parse(capabilitiesOf("run-code"));
  capabilities.limits.timeout_secs = timeoutSecs;
  await install(host, "run-code", await builtComponent("run-code"), JSON.stringify(capabilities));
  const run = (code: string, innerCall?: InnerCall) =>
    host.run(
      { id: "1", name: "run-code", params: JSON.stringify({ code }) },
      { user: "ada", channel: "web", thread: "t1", turn: "u1", ...(innerCall && { innerCall }) },
    );
  return {
    host,
    run,
    /** What the code gave, or the sentence that it failed with. */
    async result(code: string, innerCall?: InnerCall) {
      const { outcome } = await run(code, innerCall);
      return outcome.status === "ok" ? JSON.parse(outcome.output) : outcome.message;
    },
    async put(path: string, text: string, origins?: readonly { kind: "page"; name: string }[]) {
      const edit = { op: "write", path, data: Buffer.from(text) } as const;
      await workspace.apply("ada", [edit], { writer: { kind: "page" }, origins });
    },
    read: async (path: string) => {
      const file = await workspace.read("ada", path);
      return file && { text: Buffer.from(file.data).toString(), origins: file.entry.origins };
    },
  };
}
