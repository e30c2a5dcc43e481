/** Closes what the permission model leaves open. Each thread of a tool's process calls it before it runs anything. */

/** Node's own types do not have `drop` yet. */
type Permission = { drop(scope: string): void };

/** A thread could start another with `--no-permission`: from here on it may start none, nor does it need files any more. */
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
