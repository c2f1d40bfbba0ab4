/**
 * Attacks a gateway from a process of its own. Usage: attacker <JSON with attack, port, token, forMs>. It says
 * `{ "begun": true }` once it is at it, and what it did when its time is up.
 */

import { counts, target } from './attacking.mjs';
import { ATTACKS } from './attacks.mjs';

Object.assign(target, JSON.parse(process.argv[2]));
const attack = ATTACKS[target.attack];
await attack();
console.log(JSON.stringify(counts));
process.exit();
