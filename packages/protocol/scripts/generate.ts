/**
 * Writes everything that is made from the schemas: JSON Schema files and the protocol reference (both committed), and
 * the validators (not committed). With `--check` it writes nothing and fails when a committed file is not what it would
 * write.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROTOCOL_FINGERPRINT } from '../src/versions/versions.js';
import { fingerprint, jsonSchemaFiles } from './json-schema.js';
import { referencePages } from './reference/pages.js';
import { validatorModules } from './validators.js';

const home = fileURLToPath(new URL('../', import.meta.url));
const validatorFolder = join(home, 'src/validation/generated');

/** The folders whose files are all generated, and committed. */
const COMMITTED: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [join(home, 'schema'), jsonSchemaFiles()],
  [join(home, '../../docs/protocol'), referencePages()],
]);

if (process.argv.includes('--check')) check();
else write();

function write(): void {
  for (const [folder, files] of COMMITTED) {
    for (const stale of staleFiles(folder, files)) rmSync(join(folder, stale));
    for (const [name, content] of files) writeIfChanged(join(folder, name), content);
  }
  for (const [name, source] of validatorModules()) writeIfChanged(join(validatorFolder, name), source);
  if (fingerprint() !== PROTOCOL_FINGERPRINT) {
    console.log(`The wire changed. If that is meant, set PROTOCOL_FINGERPRINT to '${fingerprint()}'.`);
  }
}

function check(): void {
  const wrong = [...COMMITTED].flatMap(([folder, files]) => {
    const drifted = [...files].filter(([name, content]) => read(join(folder, name)) !== content);
    return [...drifted.map(([name]) => name), ...staleFiles(folder, files)];
  });
  if (wrong.length === 0) return;
  console.error(`Not what the schemas say: ${wrong.join(', ')}. Run \`npm run generate\` and commit the result.`);
  process.exitCode = 1;
}

function staleFiles(folder: string, files: ReadonlyMap<string, string>): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => !files.has(name)) : [];
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** An untouched file keeps its time, so that nothing is built again. */
function writeIfChanged(path: string, content: string): void {
  if (read(path) === content) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
