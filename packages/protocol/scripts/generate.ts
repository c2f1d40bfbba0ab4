/**
 * Writes what is made from the schemas: the validators and the JSON Schema files of the package, which every build makes
 * anew, and the protocol reference in `docs/protocol`, which is committed. With `--check` it writes nothing and fails
 * when a committed page is not what it would write.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AHP_1_FINGERPRINT } from '../src/versions/agreement.js';
import { AHP_0_3_FINGERPRINT } from '../src/versions/versions.js';
import { fingerprint, jsonSchemaFiles } from './json-schema.js';
import { referencePages } from './reference/pages.js';
import { validatorModules } from './validators.js';
import { AHP_1_WIRE } from './wires.js';

const home = fileURLToPath(new URL('../', import.meta.url));

/** The one folder that is committed; all its files are generated. */
const REFERENCE = { folder: join(home, '../../docs/protocol'), files: referencePages() };

if (process.argv.includes('--check')) check();
else write();

function write(): void {
  const made = [
    REFERENCE,
    { folder: join(home, 'schema'), files: jsonSchemaFiles() },
    { folder: join(home, 'generated'), files: validatorModules() },
  ];
  for (const { folder, files } of made) {
    for (const stale of staleFiles(folder, files)) rmSync(join(folder, stale));
    for (const [name, content] of files) writeIfChanged(join(folder, name), content);
  }
  checkFingerprint('AHP_0_3_FINGERPRINT', AHP_0_3_FINGERPRINT, fingerprint());
  checkFingerprint('AHP_1_FINGERPRINT', AHP_1_FINGERPRINT, fingerprint(AHP_1_WIRE));
}

function checkFingerprint(name: string, expected: string, found: string): void {
  if (found !== expected) console.log(`The wire changed. If that is meant, set ${name} to '${found}'.`);
}

function check(): void {
  const { folder, files } = REFERENCE;
  const drifted = [...files].filter(([name, content]) => read(join(folder, name)) !== content).map(([name]) => name);
  const wrong = [...drifted, ...staleFiles(folder, files)];
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
