/** A call that lacks its credential, as the operator meets it in a chat. */
import { expect, test } from "vitest";
import tools from "../../../../host/plugin.ts";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";
import { bombIn, install } from "../../../support/tools/tool-host.ts";

const CAPABILITIES = JSON.stringify({
  version: "1.0.0",
  wit_version: "0.1.0",
  http: {
    allowlist: [{ host: "api.example.org", path_prefix: "/", methods: ["POST"] }],
    credentials: {
      example: {
        secret_name: "example_token",
        location: { type: "bearer" },
        host_patterns: ["api.example.org"],
      },
    },
  },
  auth: {
    secret_name: "example_token",
    display_name: "Example",
    instructions: "Make one under Settings.",
    setup_url: "https://example.org/tokens",
    token_hint: "starts with ex_pat_",
  },
});

describeInBrowser("a call that lacks its credential", () => {
  useBrowser();

  test("has the field, the help and the link in its card, refuses what is no such token, and goes on", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({
      model,
      plugins: [tools as AnyPlugin],
      variables: { TOOLS_SHIPPED: "false", MEMORY_VECTORS: "false" },
    });
    const host = await gateway.service.service("toolHost").open();
    await install(host, "example", await bombIn(0), CAPABILITIES);
    model.script({ calls: [{ name: "example", arguments: {} }] }, { text: "That was it." });
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    await say(page, "Ask Example");
    const card = page.getByRole("region", { name: "Sign-in of a tool" });
    await card.getByText("Make one under Settings.").waitFor();
    expect(await card.getByRole("link").getAttribute("href")).toBe("https://example.org/tokens");
    await card.getByLabel("Example (starts with ex_pat_)").fill("notatoken");
    await card.getByRole("button", { name: "Save" }).click();
    await page.getByText("one begins with ex_pat_").waitFor();
    await card.getByLabel("Example (starts with ex_pat_)").fill("ex_pat_0123456789");
    await card.getByRole("button", { name: "Save" }).click();
    await card.getByText("set", { exact: true }).waitFor();
    await card.getByRole("button", { name: "Done, continue" }).click();
    // Nobody was asked to approve a call that could not be made.
    await page.getByText("May example run?").waitFor();
    await page.getByRole("button", { name: "Allow once" }).click();
    await page.getByText("That was it.").waitFor();
    await page.context().close();
  });
});
