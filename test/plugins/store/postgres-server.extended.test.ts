import { expect, test } from "vitest";
import { describePostgres, execute, freshDatabase } from "../../support/processes/postgres/database.ts";
import { startPostgres } from "../../support/processes/postgres/server.ts";
import { afterThisTest } from "../../support/undo.ts";

describePostgres("PostgreSQL for tests", () => {
  test("each database of a run is a new one", async () => {
    const [one, other] = [await freshDatabase(afterThisTest), await freshDatabase(afterThisTest)];
    await execute(one, "CREATE TABLE numbers (n BIGINT)");
    await expect(execute(other, "SELECT n FROM numbers")).rejects.toThrow(/does not exist/);
  });

  test("a server of its own comes back after kill -9 on the same port with what was committed", async () => {
    const server = await startPostgres({ fsync: true });
    afterThisTest(() => server.close());
    await execute(server.url, "CREATE TABLE numbers AS SELECT 1 AS n");
    await server.kill();
    await expect(execute(server.url, "SELECT n FROM numbers")).rejects.toThrow(/ECONNREFUSED/);
    await server.start();
    expect(await execute(server.url, "SELECT n FROM numbers")).toEqual([{ n: 1 }]);
  });
});
