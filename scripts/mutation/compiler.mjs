/**
 * The mutants that the compiler refuses: nobody can ship them, so tests need not notice them. Each stands in a copy of its
 * file; a copy may have errors of its own (a class is not the same type as its copy), so only further ones count.
 */
import { spawn } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, readJson, tool } from '../process.mjs';
import { identity, mutated } from './mutants.mjs';

/** @typedef {import('./mutants.mjs').Mutant} Mutant */

/** @param {readonly Mutant[]} mutants @param {string} cache a folder inside the repository @returns {Promise<Set<string>>} their identities */
export async function refusedByCompiler(mutants, cache) {
  /** @type {Set<string>} */
  const refused = new Set();
  for (const name of new Set(mutants.map(packageOf))) {
    const some = mutants.filter((mutant) => packageOf(mutant) === name);
    const folder = path.join(cache, name);
    rmSync(folder, { recursive: true, force: true });
    cpSync(path.join(ROOT, name, 'src'), path.join(folder, 'src'), { recursive: true });
    cpSync(path.join(ROOT, name, 'package.json'), path.join(folder, 'package.json'));
    const copies = some.map((mutant, index) => ({ mutant, copy: copyOf(mutant, index), original: copyOf(mutant) }));
    for (const { mutant, copy, original } of copies) {
      const text = readFileSync(path.join(ROOT, mutant.fileName), 'utf8');
      writeFileSync(path.join(cache, original), text);
      writeFileSync(path.join(cache, copy), mutated(text, mutant));
    }
    const errors = await compile(folder, { base: path.join(ROOT, name, 'tsconfig.json'), cwd: cache });
    const count = (/** @type {string} */ file) => errors.filter((line) => line.includes(file)).length;
    for (const { mutant, copy, original } of copies)
      if (count(copy) > count(original)) {
        refused.add(identity(mutant));
      }
  }
  return refused;
}

/** @param {Mutant} mutant */
const packageOf = ({ fileName }) => fileName.split('/').slice(0, 2).join('/');

/** @param {Mutant} mutant @param {number | 'original'} index */
const copyOf = ({ fileName }, index = 'original') => fileName.replace(/\.ts$/, `--${index}.ts`);

/** @param {string} folder @param {{ base: string, cwd: string }} options `base`: its settings @returns {Promise<string[]>} lines with errors */
async function compile(folder, { base, cwd }) {
  const { references: _, ...settings } = readJson(base);
  const compilerOptions = {
    ...settings.compilerOptions,
    ...{ rootDir: 'src', noEmit: true, composite: false, incremental: false, tsBuildInfoFile: undefined },
    ...{ noUnusedLocals: false, noUnusedParameters: false, allowUnreachableCode: true },
  };
  const project = path.join(folder, 'tsconfig.json');
  const baseOfBase = path.resolve(path.dirname(base), settings.extends);
  writeFileSync(project, JSON.stringify({ ...settings, extends: baseOfBase, compilerOptions, exclude: [] }));
  const child = spawn(process.execPath, [tool('typescript', 'tsc'), '-p', project, '--pretty', 'false'], { cwd });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  return text.split('\n').filter((line) => /^\S.*\): error /.test(line));
}
