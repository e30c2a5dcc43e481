/** The packages that ours is compared with. Where they cannot be installed, the benches say why and go on without them. */
import { openPackages, type Packages, RIVALS } from "../../support/tools/packages.ts";
import type { Progress } from "./bench.ts";

export type Rivals = Packages;

export const openRivals = (progress: Progress): Promise<Rivals | undefined> =>
  openPackages(RIVALS, progress).catch(({ message }: Error) => {
    process.stderr.write(
      `\nThe packages to compare with could not be installed and are left out: ${message}\n`,
    );
    return undefined;
  });
