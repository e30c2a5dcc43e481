/** Two nodes on one database: what is set on one holds on the other. */
import { expect, test } from "vitest";
import { describePostgres, freshDatabase } from "../support/processes/postgres/database.ts";
import { bootAgent, eventsOf, message, scriptedModel, textIn } from "../support/services/agent.ts";
import { afterThisTest } from "../support/undo.ts";

describePostgres("settings of a fleet", () => {
  test("a change on one node holds on the other without a restart, secrets and removal included", async () => {
    const shared = {
      STORE_URL: await freshDatabase(afterThisTest),
      POSTERN_SECRETS_KEY: "07".repeat(32),
      MODEL_PROVIDER: "auto",
    };
    const model = await scriptedModel();
    const one = await bootAgent({ variables: shared });
    const other = await bootAgent({ variables: shared });
    await one
      .service("settings")
      .change({ MODEL_BASE_URL: model.url, MODEL_NAME: "shared", MODEL_API_KEY: "key-of-the-fleet" }, "ann");
    const agent = other.service("agent");
    await expect.poll(() => agent.model().name).toBe("shared");
    model.script({ text: "Hello." });
    const turn = await agent.run({ user: "ann", channel: "test", input: message("Hi") });
    expect(textIn(await eventsOf(turn))).toBe("Hello.");
    expect(model.keys.at(-1)).toBe("Bearer key-of-the-fleet");
    expect(other.service("kernel").mask.finds("key-of-the-fleet")).toBe(true);
    const sql = await one.service("store").tables("look", []);
    expect(JSON.stringify(await sql.all("SELECT * FROM settings"))).not.toContain("key-of-the-fleet");
    await other.service("settings").change({ MODEL_BASE_URL: null, MODEL_API_KEY: null }, "ann");
    await expect.poll(() => one.service("agent").model().provider).toBe("builtin");
  });
});
