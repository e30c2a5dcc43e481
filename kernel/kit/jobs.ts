/** Jobs, tasks and routines. */

export { Integration, Job, JobStatus, Task } from "../vocabulary/job.ts";
export {
  RefusedCall,
  Routine,
  RoutineBudget,
  RoutineFields,
  RoutinePreview,
  RoutineRun,
} from "../vocabulary/routine.ts";
