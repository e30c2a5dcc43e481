/** Settings as the plugin that stores changed ones sees them. */

export {
  type Problem,
  type Setting,
  Settings,
  type StoredValue,
  type StoredValues,
} from "../settings/env.ts";
export { changeable, type LiveReader, readAll } from "../settings/live.ts";
