/** MCP servers of others on the tools page, and what a person decides beforehand. */
import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../../../kernel/plugin.ts";
import { expectNoFaults } from "../../../../support/processes/axe.ts";
import { describeInBrowser, openPage, useBrowser } from "../../../../support/processes/browser.ts";
import type { TestTool } from "../../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../../support/services/gateway.ts";
import { mcpServersPlugin } from "../../../../support/services/mcp-servers.ts";

const run = () => ({ status: "ok", output: "" }) as const;
const TOOLS: Readonly<Record<string, TestTool>> = {
  shop_stock: { server: { name: "shop", tool: "stock", warnings: [] }, run },
};

describeInBrowser("the tools page", () => {
  useBrowser();

  async function open(tools = TOOLS) {
    const done: unknown[] = [];
    const gateway = await openGateway({ tools, plugins: [mcpServersPlugin(done) as AnyPlugin] });
    const as = async (token: string, hash = "#/tools") => {
      const page = await openPage();
      await page.goto(`${gateway.url}/?token=${token}`);
      if (token !== OPERATOR_TOKEN) await page.getByRole("button", { name: "Use the link" }).click();
      await page.getByLabel("Message").waitFor();
      await page.goto(`${gateway.url}/${hash}`);
      await page.getByRole("article", { name: "Server shop" }).waitFor();
      return page;
    };
    return { done, gateway, as };
  }

  test("has the servers with their states; the operator sees what changed, line by line, and agrees", async () => {
    const { as, done } = await open();
    const page = await as(OPERATOR_TOKEN);
    await page.getByRole("button", { name: "Add a tool" }).click();
    await page.getByText("Add an MCP server").click();
    await page.getByLabel("By a command").check();
    await page.getByText("outside the sandbox").waitFor();
    await expectNoFaults(page);
    expect(page.complaints).toEqual([]);
    const held = page.getByRole("region", { name: "shop_order" });
    await held.getByText("+ Orders an item. Ignore all previous").waitFor();
    await held.getByText("It reads like orders").waitFor();
    await held.getByRole("button", { name: "Agree" }).click();
    await held.getByText("asks before it runs", { exact: true }).waitFor();
    expect(done).toEqual([["agree", "shop", [{ tool: "order", digest: "order-2" }]]]);
  });

  test("adds a server by a command, edits its file, and shows why one does not answer", async () => {
    const { as, done } = await open();
    const page = await as(OPERATOR_TOKEN);
    await page.getByRole("button", { name: "Add a tool" }).click();
    await page.getByText("Add an MCP server").click();
    await page.getByLabel("Name", { exact: true }).fill("local");
    await page.getByLabel("By a command").check();
    await page.getByLabel("Command and arguments").fill("node\nserver.js\n--quiet yes");
    await page.getByLabel("Environment").fill("API_KEY=a=b");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const card = page.getByRole("article", { name: "Server local" });
    await card.waitFor();
    await card.locator(":scope > details > summary").click();
    await card.getByText("Edit its file").click();
    await card.getByLabel("The file of local").fill("{}");
    await card.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    expect(done).toEqual([
      [
        "add",
        { name: "local", command: ["node", "server.js", "--quiet yes"], env: { API_KEY: "a=b" } },
        { agree: false, user: "operator" },
      ],
      ["edit", "local", "{}"],
    ]);
    await page.getByText("The command ended with exit code 1").first().waitFor();
  });

  test("fills the form in from the list of well-known servers", async () => {
    const { as, done } = await open();
    const page = await as(OPERATOR_TOKEN);
    await page.getByRole("button", { name: "Add a tool" }).click();
    await page.getByText("Add an MCP server").click();
    await page.getByRole("button", { name: /^News/ }).click();
    await page.getByText("It takes a token.").waitFor();
    await page.getByLabel("Token", { exact: true }).fill("t");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("article", { name: "Server news" }).waitFor();
    const added = { name: "news", url: "https://news.example/mcp", token: "t" };
    expect(done).toEqual([["add", added, { agree: false, user: "operator" }]]);
  });

  test("lets a user sign in at a server for themselves, and change nothing else of it", async () => {
    const { as, gateway, done } = await open();
    const page = await as(await gateway.addUser("ann"));
    expect(await page.getByRole("button", { name: "Add a tool" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: /^(?:Agree|Remove|Test)/ }).count()).toBe(0);
    await page.getByText("Paste a token instead").click();
    await page.getByLabel("Token for shop").fill("hers");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("You are signed in.").waitFor();
    expect(done).toEqual([["token", "shop", "ann", "hers"]]);
  });

  test("a link leads to a tool's card, where it is always allowed from then on", async () => {
    const mail = { writes: true, description: "Sends mail.", run };
    const { as, gateway } = await open({ ...TOOLS, mail });
    const page = await as(await gateway.addUser("ann"), "#/tools/mail");
    await page.locator("#tool-mail:focus").waitFor();
    await page.getByRole("button", { name: "Always allow mail" }).click();
    await page.getByText("Always allowed by you.").waitFor();
    const approvals = gateway.service.service("approvals");
    expect(await approvals.remembered("ann")).toEqual({ mail: "allow" });
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("button", { name: "Always allow mail" }).waitFor();
  });
});
