/** The examples are run as a stranger would run them: against the real command. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isBuilt, newDataFolder, SERVE } from './support/host.js';
import { atrium } from './support/run-cli.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));

describe.skipIf(!isBuilt)(
  'examples (skipped unless the command has been built: npm run build)',
  { timeout: 60_000 },
  () => {
    it('the client in thirty lines prints an answer', async () => {
      const script = path.join(EXAMPLES, 'scripts', 'demo.json');
      const stdout = await outputOf('client-in-30-lines.mjs', ['Hello!'], ['--script', script]);
      expect(stdout).toBe('You said: Hello!. Say `hello` to see more.\n');
    });

    it('the nightly automation says when it runs next, and how its first run went', async () => {
      const script = path.join(EXAMPLES, 'scripts', 'demo.json');
      const stdout = await outputOf('nightly-automation.mjs', ['Hello!'], ['--script', script]);
      expect(stdout).toMatch(/^Nightly runs next at \d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/m);
      expect(stdout).toMatch(/^completed ahp-session:\/[0-9a-f-]{36} $/m);
    });

    it('the client that rewrites the prompt prints it as it is then', async () => {
      const stdout = await outputOf('rewrite-the-prompt.mjs');
      expect(stdout).toMatch(/^# tone\n.+ Answer in rhymes\.$/m);
      expect(stdout).toContain('# environment_context\nYou work somewhere.\n');
    });
  },
);

/** What an example prints about a host of its own. */
async function outputOf(example: string, args: readonly string[] = [], hostArgs: readonly string[] = []) {
  const dataDir = await newDataFolder();
  const { says } = atrium([...SERVE, '--data-dir', dataDir, ...hostArgs]);
  const [, port] = await says(/^READY:(\d+)\n/);
  const token = (await readFile(path.join(dataDir, 'connection-token'), 'utf8')).trim();
  const command = [path.join(EXAMPLES, example), `ws://127.0.0.1:${port}`, ...args];
  const env = { ...process.env, ATRIUM_TOKEN: token };
  return (await promisify(execFile)(process.execPath, command, { env })).stdout;
}
