/** The floor of a start: the bare server, and the compiled code of the command, read and none of it run. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Script } from 'node:vm';

const folder = process.env.ATRIUM_BENCH_CODE;
for (let at = 0; ; at++) {
  const source = read(`${at}.cjs`)?.toString('latin1');
  if (source === undefined) break;
  const script = new Script(source, { cachedData: read(`${at}.code`) });
  if (script.cachedDataRejected) throw new Error(`the code of script ${at} was rejected`);
  script.runInThisContext();
}
await import('./bare-server.mjs');

function read(name) {
  try {
    return readFileSync(path.join(folder, name));
  } catch {
    return undefined;
  }
}
