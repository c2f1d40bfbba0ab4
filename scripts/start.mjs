/** `npm start`: from a fresh clone to a running host. Arguments go to `atrium serve`. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bold, ROOT, readJson, runMain } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled, packageFolders } from './setup.mjs';

const COMMAND = path.join(ROOT, 'packages', 'cli', 'bin', 'atrium.js');

async function main() {
  checkNode();
  await ensureInstalled();
  await ensureBuilt();
  if (existsSync(COMMAND)) return serve();
  tellWhatIsThere();
}

/** In this process, so that signals and the exit code are the host's own. */
async function serve() {
  process.argv = [process.execPath, COMMAND, 'serve', ...process.argv.slice(2)];
  await import(pathToFileURL(COMMAND).href);
}

function tellWhatIsThere() {
  const packages = packageFolders().map((folder) => readJson(path.join(folder, 'package.json')));
  const lines = packages.map(({ name, description }) => `  ${name}  ${description}`);
  console.log(`
${bold('Installed and built. There is no host to start yet.')}

What is here today:
${lines.join('\n')}

What is missing: the host (packages/host) and the \`atrium\` command (packages/cli).
When they are there, this command starts the host.

Next: \`npm test\` runs every check; README.md says how to use the packages.
`);
}

await runMain(main);
