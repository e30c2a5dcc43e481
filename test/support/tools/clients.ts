/** Clients of others, and the suites of protocols. */
import { describeWhere } from "../run/needs.ts";
import { CLIENTS, openPackages } from "./packages.ts";

const packages = await openPackages(CLIENTS).catch(() => undefined);

export const describeWithClients = describeWhere(
  packages !== undefined,
  "a registry of npm packages, to install test/fixtures/clients from",
);

/** Where they are installed. For the tests that have them. */
export const clientsFolder = (): string => (packages as NonNullable<typeof packages>).folder;
