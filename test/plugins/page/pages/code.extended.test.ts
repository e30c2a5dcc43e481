/** From a dropped table to a chart and back, with the real `run-code` in its sandbox. */
import { expect, test } from "vitest";
import tools from "../../../../host/plugin.ts";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import { describeInBrowser, openSignedIn, say, useBrowser } from "../../../support/processes/browser.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";
import { builtComponent, capabilitiesOf } from "../../../support/tools/shipped.ts";
import { install } from "../../../support/tools/tool-host.ts";

const SALES = "month,price\n2026-01,10\n2026-01,30\n2026-02,50\n2026-03,20\n2026-03,40\n";
const CODE = `const rows = csv.parse(await files.read("/sales.csv"));
const means = stats.rollup(rows, (some) => stats.mean(some.map(({ price }) => price)), "month");
const points = [...means].map(([month, mean]) => ({ month, mean }));
console.log(table(points));
chart.bar(points, { x: "month", y: "mean", title: "Monthly average" });
return Object.fromEntries(means);`;

/** In the page: drops a file as a person does. */
function drop({ name, text }: { name: string; text: string }): void {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}

/** In the page: the colour near a corner of a picture. */
async function pixelOf(png: string): Promise<string> {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(40, 40).getContext("2d") as OffscreenCanvasRenderingContext2D;
  canvas.drawImage(image, 0, 0);
  return [...canvas.getImageData(30, 30, 1, 1).data].slice(0, 3).join();
}

describeInBrowser("code on the page", () => {
  useBrowser();

  test("a CSV is dropped, charted by code, the picture is in the chat and in Files, and the answer is undone", async () => {
    const model = await scriptedModel();
    const gateway = await openGateway({
      model,
      plugins: [tools as AnyPlugin],
      variables: { TOOLS_SHIPPED: "false", MEMORY_VECTORS: "false" },
    });
    const host = await gateway.service.service("toolHost").open();
    await install(host, "run-code", await builtComponent("run-code"), capabilitiesOf("run-code"));
    const page = await openSignedIn(gateway, OPERATOR_TOKEN, "files");
    await page.getByText("This folder is empty").waitFor();
    await page.evaluate(drop, { name: "sales.csv", text: SALES });
    await page.getByText("1 file is uploaded").waitFor();

    model.script(
      { calls: [{ name: "run-code", arguments: { code: CODE } }] },
      { text: "The average was highest in February." },
    );
    await page.goto(`${gateway.url}/#/`);
    await say(page, "Chart the monthly average of sales.csv");
    await page.getByText("The average was highest in February.").waitFor();
    const picture = page.getByRole("img", { name: "Monthly average" });
    await picture.waitFor();
    await expect
      .poll(() => picture.evaluate((img) => (img as HTMLImageElement).naturalWidth))
      .toBeGreaterThan(100);
    // It is drawn on the theme's card, and follows the theme.
    const ground = async () =>
      page.evaluate(pixelOf, (await picture.screenshot({ animations: "disabled" })).toString("base64"));
    await expect.poll(ground).toBe("255,255,255");
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(ground).toBe("31,34,37");

    await page.goto(`${gateway.url}/#/files/output`);
    await page.getByRole("link", { name: "monthly-average.svg" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Undo what this answer changed" }).click();
    await page.getByText("Undone.", { exact: true }).waitFor();
    await page.goto(`${gateway.url}/#/files`);
    await page.getByRole("link", { name: "sales.csv", exact: true }).waitFor();
    expect(await page.getByRole("link", { name: "output", exact: true }).count()).toBe(0);
    expect(page.complaints).toEqual([]);
  });
});
