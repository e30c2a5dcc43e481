/** What the code changed in the globals that we use ourselves is undone before its result is written. */
const { getOwnPropertyDescriptors, defineProperty, setPrototypeOf } = Object;
const { ownKeys, deleteProperty } = Reflect;

type Kept = readonly [
  owner: object,
  keys: readonly PropertyKey[],
  members: Record<PropertyKey, PropertyDescriptor>,
];

/** Returns a function that puts them back. */
export function rememberGlobals(): () => void {
  const owners = [Object, Array, JSON, Reflect, Number, Promise, String, Map, Set, Date, Error, Function];
  const kept: Kept[] = owners
    .flatMap((owner): object[] => ("prototype" in owner ? [owner, owner.prototype] : [owner]))
    // Without a prototype: what the code adds to that of all objects is no member of these.
    .map((owner) => [owner, ownKeys(owner), setPrototypeOf(getOwnPropertyDescriptors(owner), null)]);
  return () => {
    for (let at = 0; at < kept.length; at++) restore(kept[at] as Kept);
  };
}

function restore([owner, keys, members]: Kept): void {
  const present = ownKeys(owner);
  for (let at = 0; at < present.length; at++) {
    const key = present[at] as PropertyKey;
    if (members[key] === undefined) deleteProperty(owner, key);
  }
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as PropertyKey;
    const member = members[key] as PropertyDescriptor;
    if (member.get === undefined && (owner as Record<PropertyKey, unknown>)[key] === member.value) continue;
    try {
      defineProperty(owner, key, member);
    } catch {
      // It was made unchangeable; then the result is what the code made of it.
    }
  }
}
