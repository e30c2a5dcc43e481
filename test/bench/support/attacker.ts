/** The attacker of the bench `neighbour`, in a process of its own: it attacks the address that it is given until its parent lets go. */
import { startAttacker } from "../../support/attacker.ts";

const [url = "", token = ""] = process.argv.slice(2);
const attacker = startAttacker(url, token);
process.send?.({ url });
process.once("disconnect", () => void attacker.stop().then(() => process.exit()));
