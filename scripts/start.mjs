/** `npm start`: from a fresh clone to a running host. Arguments go to `atrium serve`. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT, runMain } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled } from './setup.mjs';

const COMMAND = path.join(ROOT, 'packages', 'cli', 'bin', 'atrium.js');

async function main() {
  checkNode();
  await ensureInstalled();
  await ensureBuilt({ check: 'nothing' });
  await serve();
}

/** In this process, so that signals and the exit code are the host's own. */
async function serve() {
  process.argv = [process.execPath, COMMAND, 'serve', ...process.argv.slice(2)];
  await import(pathToFileURL(COMMAND).href);
}

await runMain(main, { hasHelp: true });
