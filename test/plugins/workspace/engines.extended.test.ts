/** Large changes of the workspace on either engine of the store. */
import { describeEngines } from "../../support/processes/engines.ts";
import { workspaceContract } from "./contract.ts";

describeEngines("the workspace", (_engine, fresh) => workspaceContract(fresh, true));
