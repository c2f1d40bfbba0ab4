/**
 * Writes everything that is made from the schemas: `schema/*.json` (committed) and the validators (not committed).
 * With `--check` it writes nothing and fails when a committed file is not what it would write.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROTOCOL_FINGERPRINT } from '../src/versions/versions.js';
import { fingerprint, jsonSchemaFiles } from './json-schema.js';
import { validatorModules } from './validators.js';

const home = fileURLToPath(new URL('../', import.meta.url));
const schemaFolder = join(home, 'schema');
const validatorFolder = join(home, 'src/validation/generated');

const files = jsonSchemaFiles();
if (process.argv.includes('--check')) check();
else write();

function write(): void {
  mkdirSync(schemaFolder, { recursive: true });
  for (const stale of staleFiles()) rmSync(join(schemaFolder, stale));
  for (const [name, content] of files) writeIfChanged(join(schemaFolder, name), content);
  for (const [name, source] of validatorModules()) writeIfChanged(join(validatorFolder, name), source);
  if (fingerprint() !== PROTOCOL_FINGERPRINT) {
    console.log(`The wire changed. If that is meant, set PROTOCOL_FINGERPRINT to '${fingerprint()}'.`);
  }
}

function check(): void {
  const drifted = [...files].filter(([name, content]) => read(join(schemaFolder, name)) !== content);
  const wrong = [...drifted.map(([name]) => name), ...staleFiles()];
  if (wrong.length === 0) return;
  console.error(`Not what the schemas say: ${wrong.join(', ')}. Run \`npm run generate\` and commit the result.`);
  process.exitCode = 1;
}

function staleFiles(): string[] {
  return existsSync(schemaFolder) ? readdirSync(schemaFolder).filter((name) => !files.has(name)) : [];
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
