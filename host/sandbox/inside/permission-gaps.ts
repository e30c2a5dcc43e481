/** Closes what the permission model leaves open. Each thread of a tool's process calls it before it runs anything. */

/** Node's own types do not have `drop` yet. */
type Permission = { drop(scope: string): void };

/**
 * A thread may start another with flags of its choice, `--no-permission` among them, and so undo everything: from here on
 * it may start none. What it runs is loaded, so it needs no file any more either.
 */
export function shutThread(): void {
  const permission = process.permission as unknown as Permission;
  permission.drop("worker");
  permission.drop("fs.read");
  shutSignals();
}

/** Signals are no permission: code that broke out of the glue could end the service, which runs as the same user. */
export function shutSignals(): void {
  for (const name of ["kill", "_kill", "_debugProcess", "_debugEnd"])
    Object.defineProperty(process, name, { value: undefined, configurable: false });
}
