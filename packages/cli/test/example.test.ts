/** The examples are run as a stranger would run them: against the real command. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { atrium, isBuilt, newDataFolder } from './support.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url));

describe.skipIf(!isBuilt)('examples (skipped unless the command has been built: npm run build)', () => {
  it('the client in thirty lines prints an answer', async () => {
    const dataDir = await newDataFolder();
    const script = path.join(EXAMPLES, 'scripts', 'demo.json');
    const { says } = atrium(['serve', '--quiet', '--port', '0', '--data-dir', dataDir, '--script', script]);
    const [, port] = await says(/^READY:(\d+)\n/);
    const token = (await readFile(path.join(dataDir, 'connection-token'), 'utf8')).trim();
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [path.join(EXAMPLES, 'client-in-30-lines.mjs'), `ws://127.0.0.1:${port}`, 'Hello!'],
      { env: { ...process.env, ATRIUM_TOKEN: token } },
    );
    expect(stdout).toBe('You said: Hello!. Say `hello` to see more.\n');
  });
});
