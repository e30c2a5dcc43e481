import { expect, test } from "vitest";
import { startPostern } from "../../support/processes/postern.ts";
import { servePostern } from "../../support/processes/served.ts";

test("a question asked on the command line is left alone by the service on the same home", async () => {
  const served = await servePostern();
  const rest = Promise.withResolvers<string>();
  served.model.script({ text: ["One ", rest.promise] });
  const asking = startPostern(["ask", "Count to two"], {
    env: { POSTERN_HOME: served.home, MODEL_BASE_URL: served.model.url, MODEL_NAME: "scripted" },
  });
  await expect.poll(() => served.model.requests.length).toBe(1);
  // Another turn of the service ends meanwhile, and what it looks after now and then has been looked after.
  const token = new URL(served.link()).searchParams.get("token");
  const answer = await fetch(`${served.url}/api/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "Hello" }),
  });
  expect(answer.status).toBe(200);
  rest.resolve("two.");
  expect(await asking.ended).toBe(0);
  expect(asking.stdout()).toContain("One two.");
});
