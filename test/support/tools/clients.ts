/** Clients of others, and the suites of protocols. */
import { describeWhere } from "../run/needs.ts";
import { CLIENTS, openPackages } from "./packages.ts";

const { folder, why } = await openPackages(CLIENTS).then(
  (packages) => ({ ...packages, why: "" }),
  ({ message }: Error) => ({ folder: undefined, why: message }),
);

export const describeWithClients = describeWhere(
  folder !== undefined,
  `the packages of test/fixtures/clients, which could not be installed: ${why}`,
);

/** Returns the folder that they are installed in; only tests under `describeWithClients` have one. */
export const clientsFolder = (): string => folder as string;
