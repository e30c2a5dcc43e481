/** Jobs and tasks. */

export { Integration, Job, JobStatus, Task } from "../vocabulary/job.ts";
