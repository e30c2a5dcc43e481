/** Jobs and tasks. */

export { Job, JobStatus, Task } from "../vocabulary/job.ts";
