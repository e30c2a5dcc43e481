/** Files on the page and in chat: folders, previews, versions, runs of code, charts, mentions, conflicts. */
import { expect, test } from "vitest";
import { expectNoFaults } from "../../../support/processes/axe.ts";
import { describeInBrowser, openSignedIn, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway, type TestGateway } from "../../../support/services/gateway.ts";

const byPage = { writer: { kind: "page" } } as const;
const write = (path: string, data: string) => ({ op: "write", path, data: Buffer.from(data) }) as const;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><style>rect{fill:#1f6f5c}</style>
  <script>parent.document.title = "taken"</script><rect width="30" height="20"/></svg>`;

/** The turn that runs now, as a tool that writes files would be told. */
async function runningTurn(gateway: TestGateway) {
  const threads = gateway.service.service("threads");
  const [thread] = (await threads.list("operator", { limit: 1 })).items;
  const { items } = await threads.turns("operator", thread?.id ?? "", { limit: 1, through: "newest" });
  return { thread: thread?.id, turn: items[0]?.id };
}

describeInBrowser("files on the page and in chat", () => {
  useBrowser();

  test("folders are made and opened, files renamed, removed and brought back, versions compared and restored", async () => {
    const gateway = await openGateway();
    const workspace = gateway.service.service("workspace");
    await workspace.apply("operator", [write("/notes/garden.md", "# Garden\n\n- peas\n")], byPage);
    await workspace.apply("operator", [write("/notes/garden.md", "# Garden\n\n- peas\n- leeks\n")], byPage);
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "files");
    await page.getByRole("button", { name: "New folder" }).click();
    await page.getByLabel("Name", { exact: true }).fill("reports");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("link", { name: "reports" }).waitFor();
    await page.getByText(/of 500 MB, 1 of 20,000 files/).waitFor();
    await expectNoFaults(page);

    await page.getByRole("link", { name: "notes" }).click();
    await page.getByRole("link", { name: "garden.md" }).click();
    // Markdown is shown as in chat.
    await page.getByRole("heading", { name: "Garden", exact: true }).waitFor();
    await page.getByText("Versions", { exact: true }).click();
    await page.getByRole("button", { name: "Show differences" }).click();
    await page.getByText("+ - leeks").waitFor();
    await expectNoFaults(page);
    await page.getByRole("button", { name: "Restore version 1" }).click();
    await page.getByText("version 3", { exact: true }).first().waitFor();

    await page.getByRole("button", { name: "Rename or move" }).click();
    await page.getByLabel("New path").fill("/reports/garden.md");
    await page.getByRole("button", { name: "Move", exact: true }).click();
    await page.getByRole("navigation", { name: "Path" }).getByText("reports").click();
    await page.getByRole("button", { name: "Actions for garden.md" }).click();
    await page.getByRole("menuitem", { name: "Remove" }).click();
    await page.getByText("Removed /reports/garden.md").waitFor();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("link", { name: "garden.md" }).waitFor();
    expect(page.complaints).toEqual([]);

    await page.goto(`${gateway.url}/#/files/never/was.txt`);
    await page.getByText("There is no /never/was.txt").waitFor();
  });

  test("a run of code shows its code, output, files and chart; its changes are undone in spite of a later one", async () => {
    const model = await scriptedModel();
    const output = {
      ...{ value: [{ month: "Jan", value: 60 }], printed: "412 rows", calls: 0 },
      files: [{ path: "/output/averages.csv", bytes: 24, mime: "text/csv" }],
      charts: [{ path: "/output/average.svg", title: "Monthly average" }],
    };
    const gateway: TestGateway = await openGateway({
      model,
      tools: {
        "run-code": {
          run: async () => {
            const writer = { kind: "tool", tool: "run-code", ...(await runningTurn(gateway)) } as const;
            const made = [write("/output/average.svg", SVG), write("/output/averages.csv", "month,value\n")];
            await gateway.service.service("workspace").apply("operator", made, { writer });
            return { status: "ok", output: JSON.stringify(output) };
          },
        },
      },
    });
    const workspace = gateway.service.service("workspace");
    await workspace.apply("operator", [write("/data/sales.csv", "month,amount\nJan,60\n")], byPage);
    const page = await openSignedIn(gateway, OPERATOR_TOKEN);
    model.script(
      {
        calls: [
          { name: "run-code", arguments: { code: 'const rows = await files.read("/data/sales.csv");' } },
        ],
      },
      { text: "See [the chart](/output/average.svg)." },
    );
    const box = page.getByLabel("Message", { exact: true });
    await box.pressSequentially("Chart @sal");
    await page.getByRole("listbox", { name: "Files of the workspace" }).waitFor();
    await expectNoFaults(page);
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Attached files" }).getByText("sales.csv").waitFor();
    await expect.poll(() => box.inputValue()).toBe("Chart @/data/sales.csv ");
    await page.keyboard.press("Enter");

    const chart = page.getByRole("img", { name: "Monthly average" });
    await expect
      .poll(() => chart.evaluate((img) => (img as HTMLImageElement).naturalWidth))
      .toBeGreaterThan(0);
    // No part of the picture is in the page, which has drawings of its own.
    expect(await page.locator("main svg :is(script, style), main rect[width='30']").count()).toBe(0);
    expect(await page.title()).not.toBe("taken");
    expect(await page.getByRole("link", { name: "the chart" }).getAttribute("href")).toBe(
      "#/files/output/average.svg",
    );
    await page.locator("details.call > summary").click();
    await page.locator(".hljs-keyword", { hasText: "const" }).waitFor();
    for (const text of ["412 rows", '"value": 60', "/output/averages.csv"])
      await page.locator("details.call").getByText(text).first().waitFor();
    await expectNoFaults(page);

    await page.getByRole("button", { name: "Keep in Files: sales.csv" }).click();
    await page.getByRole("link", { name: "Kept in Files: open sales.csv" }).waitFor();
    expect((await workspace.find("operator", "/sales.csv"))?.origins).toEqual([
      { kind: "file", name: "sales.csv" },
    ]);

    await workspace.apply("operator", [write("/output/averages.csv", "mine\n")], byPage);
    await page.getByRole("button", { name: "Undo what this answer changed" }).click();
    await page.getByText("Nothing was undone yet").waitFor();
    await expectNoFaults(page);
    await page.getByRole("button", { name: "Undo the rest, and leave these" }).click();
    await page.getByText("Undone.", { exact: true }).waitFor();
    expect(await workspace.find("operator", "/output/average.svg")).toBeUndefined();
    expect(
      Buffer.from((await workspace.read("operator", "/output/averages.csv"))?.data ?? []).toString(),
    ).toBe("mine\n");
    await page.reload();
    await page.getByText("Undone.", { exact: true }).waitFor();
    await page.getByText("is no longer in the workspace").waitFor();
  });
});
