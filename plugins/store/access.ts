/** The command line's access to the store with nothing started; the composition root hands it over. */
export { examineForUpgrade } from "./maintenance/upgrade-check.ts";
export { look } from "./reading/look.ts";
export { peekSettings } from "./stored-settings/peek.ts";
