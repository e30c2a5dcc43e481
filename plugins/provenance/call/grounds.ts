/** The rules by which a value needs no question. */
export const GROUNDS = [
  "alone",
  "approved",
  "planned",
  "carried",
  "rule",
  "trusted",
  "default",
  "said",
  "named",
  "largest",
  "begun",
  "resolved",
  "kept",
  "little",
  "link",
] as const;
export type Ground = (typeof GROUNDS)[number];
/** By the places of the values. */
export type Grounds = Map<string, Ground>;
