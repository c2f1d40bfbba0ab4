/** `npm run bench -- <name> [--json]`: runs bench/<name>.bench.mjs on a fresh build. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ROOT, red, runMain, runNode, say } from './process.mjs';
import { checkNode, ensureBuilt, ensureInstalled } from './setup.mjs';

const FOLDER = path.join(ROOT, 'bench');
const SUFFIX = '.bench.mjs';

async function main() {
  const [name, ...rest] = process.argv.slice(2);
  if (name === undefined || name === '--help' || name === '-h') return console.log(help());
  if (!benches().includes(name)) {
    say(`${red('error:')} there is no benchmark named "${name}".\n\n${help()}`);
    process.exitCode = 2;
    return;
  }
  checkNode();
  await ensureInstalled();
  await ensureBuilt();
  const { code } = await runNode([path.join(FOLDER, `${name}${SUFFIX}`), ...rest], { live: true });
  process.exitCode = code;
}

function benches() {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort();
}

function help() {
  const names = benches().map((name) => `  ${name}`);
  return `Usage: npm run bench -- <name> [--json]

Runs one benchmark of bench/ on a fresh build. --json prints the figures as JSON on stdout
(add -s, \`npm run -s bench -- <name> --json\`, to silence npm's own lines).

Benchmarks:
${names.length > 0 ? names.join('\n') : '  none yet'}`;
}

await runMain(main);
