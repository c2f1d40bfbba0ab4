/** `npm run build`: generate and compile, if anything has changed. `--force` builds regardless. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT, runMain, say } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled } from './setup.mjs';

/**
 * npm runs this script as `prepare` (with `--if-possible`) after a plain `npm ci`, so that the packages are usable at
 * once. It must then neither install again nor fail where there is nothing to build with.
 */
async function main() {
  const asPrepare = process.argv.includes('--if-possible');
  if (asPrepare && !canBuild()) return;
  checkNode();
  if (!asPrepare) await ensureInstalled();
  await ensureBuilt({ force: process.argv.includes('--force') });
  if (!asPrepare) say('Up to date.');
}

/** Not when our own installer is running (it builds afterwards), and not without sources or development tools. */
function canBuild() {
  if (process.env.ATRIUM_SKIP_PREPARE) return false;
  const needed = ['packages/protocol/scripts/generate.ts', 'node_modules/typescript', 'node_modules/tsx'];
  return needed.every((file) => existsSync(path.join(ROOT, file)));
}

await runMain(main);
