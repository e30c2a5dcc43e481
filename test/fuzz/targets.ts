import { gate, gateAfterYes, gatePlan } from "./gate/target.ts";
import { policy } from "./policy/target.ts";
import { provenance } from "./provenance/target.ts";
import * as doors from "./strangers/doors.ts";
import { service } from "./strangers/service.ts";
import type { Target } from "./target.ts";

export const TARGETS: readonly Target[] = [
  policy,
  provenance,
  gate,
  gateAfterYes,
  gatePlan,
  ...Object.values(doors),
  service,
];
