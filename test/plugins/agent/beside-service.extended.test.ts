import { expect, test } from "vitest";
import { postern, startPostern } from "../../support/processes/postern.ts";
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

test("turns are compared on the command line while the service runs on the same home", async () => {
  const served = await servePostern();
  const token = new URL(served.link()).searchParams.get("token");
  await fetch(`${served.url}/api/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "Hello" }),
  });
  served.model.otherwise({ text: "Another answer." });
  const env = { POSTERN_HOME: served.home, MODEL_BASE_URL: served.model.url, MODEL_NAME: "scripted" };
  const { stdout } = await postern(["models", "compare", "scripted", "--yes", "--json"], { env });
  expect(JSON.parse(stdout)).toMatchObject({
    turns: [{ calls: "same", after: { answer: "Another answer." } }],
  });
});
