/** One point of a growth curve, in a process of its own. Prints one JSON object. */
import { CURVES } from './growth-curves.mjs';

// Timers of the host keep no process alive; this one does.
setInterval(() => {}, 1_000);
const [name, size] = process.argv.slice(2);
console.log(JSON.stringify({ cost: await CURVES[name].cost(Number(size)) }));
process.exit(0);
