/** The same component run otherwise than Postern does, to see what clean instances cost and save. */
import type { Component } from "../../../host/sandbox/processes.ts";

/** An instance is opened for every call. */
export function fresh(component: Component): Component {
  const load = async () => ({ ...(await component.load()), restorable: false });
  return { ...component, key: `${component.key}-fresh`, load };
}

/** The glue links by itself, so that nothing is seen of the core instances and nothing put back. */
export function unprotected(component: Component): Component {
  const load = async () => {
    const code = await component.load();
    const glue = `const link = (() => { ${code.glue} })(); return (modules, imports) => link(modules, imports);`;
    return { ...code, glue };
  };
  return { ...component, key: `${component.key}-unprotected`, load };
}
