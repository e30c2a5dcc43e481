import { gate } from "./gate/target.ts";
import { policy } from "./policy/target.ts";
import type { Target } from "./target.ts";

export const TARGETS: readonly Target[] = [policy, gate];
