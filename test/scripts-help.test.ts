import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

/** Those that somebody starts. `npm start` hands its arguments on to the command, and all benchmarks begin alike. */
const scripts = readdirSync(path.join(ROOT, 'scripts'))
  .filter((name) => name.endsWith('.mjs') && !['process.mjs', 'start.mjs'].includes(name))
  .filter((name) => /runMain\(|isHelpAsked\(/.test(readFileSync(path.join(ROOT, 'scripts', name), 'utf8')))
  .map((name) => `scripts/${name}`);

describe('--help', () => {
  it.each([...scripts, 'bench/log.bench.mjs'])(
    'of %s prints what it does, and does nothing',
    {
      timeout: 60_000,
    },
    async (file) => {
      const { stdout, stderr } = await run(process.execPath, [file, '--help'], { cwd: ROOT });
      expect(stdout.trim().split(/\s+/).length).toBeGreaterThan(8);
      expect(stdout).toMatch(/Usage: |`npm run |[A-Z][^.]*\./);
      expect(`${stdout}${stderr}`).not.toMatch(/ RUN {2}|Building: |rules, each with|keeps to its layer/);
    },
  );
});
