/**
 * The mutants of source files, made by Stryker's instrumenter: which there are, which of them a seed draws, and the code
 * that has them in it, each behind a switch.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { ROOT } from '../process.mjs';

/** The compiler refuses up to two thirds of the mutants, so that so many times more are drawn than are wanted. */
const DRAWN_PER_WANTED = 4;

/**
 * @typedef {{ line: number, column: number }} Position from 0
 * @typedef {{ id: string, fileName: string, mutatorName: string, replacement: string, location: { start: Position, end: Position } }} Mutant
 */

/**
 * All mutants of the sources, or some that the seed draws.
 * @param {readonly string[]} sources @param {{ seed: number, sample: number | undefined }} options
 */
export async function drawMutants(sources, { seed, sample }) {
  const { mutants, textsForPeople } = await allMutants(sources);
  return { mutants: sample === undefined ? mutants : draw(mutants, DRAWN_PER_WANTED * sample, seed), textsForPeople };
}

/** @param {readonly string[]} sources */
export function allMutants(sources) {
  return instrument(sources.map((name) => ({ name, mutate: true })));
}

/** The code with these mutants; all the others would slow it down. @param {readonly Mutant[]} drawn */
export async function codeWith(drawn) {
  const names = [...new Set(drawn.map(({ fileName }) => fileName))].sort();
  const placesIn = (/** @type {string} */ name) =>
    drawn.filter(({ fileName }) => fileName === name).map(({ location }) => location);
  const { mutants, code } = await instrument(names.map((name) => ({ name, mutate: placesIn(name) })));
  const wanted = new Set(drawn.map(identity));
  return { mutants: mutants.filter((mutant) => wanted.has(identity(mutant))), code };
}

/** The same for a mutant whatever others are in the code; its id is not. @param {Mutant} mutant */
export function identity({ fileName, mutatorName, replacement, location }) {
  return JSON.stringify([fileName, mutatorName, replacement, location]);
}

/** The text of a file with the mutant instead of the code that it replaces. @param {string} text @param {Mutant} mutant */
export function mutated(text, { location: { start, end }, replacement }) {
  const lines = text.split('\n');
  const before = [...lines.slice(0, start.line), lines[start.line]?.slice(0, start.column)];
  const after = [lines[end.line]?.slice(end.column), ...lines.slice(end.line + 1)];
  return `${before.join('\n')}${replacement}${after.join('\n')}`;
}

/** For the reader, and for `survivors.json`. @param {Mutant} mutant */
export function describe({ fileName, location, mutatorName, replacement }) {
  const lines = readFileSync(path.join(ROOT, fileName), 'utf8').split('\n');
  return {
    file: fileName,
    line: location.start.line + 1,
    code: (lines[location.start.line] ?? '').trim(),
    change: `${mutatorName}: ${replacement.split('\n')[0]}`,
  };
}

/** @param {{ name: string, mutate: any }[]} files @returns {Promise<{ mutants: Mutant[], textsForPeople: number, code: Record<string, string> }>} */
async function instrument(files) {
  const quiet = /** @type {any} */ ({ debug() {}, info() {}, isDebugEnabled: () => false });
  const withContent = files.map((file) => ({ ...file, content: readFileSync(path.join(ROOT, file.name), 'utf8') }));
  const result = await new Instrumenter(quiet).instrument(withContent, {
    plugins: null,
    excludedMutations: [],
    ignorers: [{ shouldIgnore: textForPeople }],
    noHeader: false,
  });
  const code = Object.fromEntries(result.files.map(({ name, content }) => [name, `// @ts-nocheck\n${content}`]));
  const mutants = result.mutants.filter(({ status }) => status !== 'Ignored');
  const textsForPeople = result.mutants.length - mutants.length;
  return { mutants: /** @type {Mutant[]} */ (mutants), textsForPeople, code };
}

/**
 * Log lines, and the words of errors: they are for people, and a test that asserts them only repeats them. Codes of
 * errors are one word and stay.
 * @param {any} path of Babel @returns {string | undefined}
 */
function textForPeople(path) {
  if (isLogLine(path.node)) return 'a log line';
  const { type, value, quasis = [] } = path.node;
  const isText = type === 'StringLiteral' || type === 'TemplateLiteral';
  const words = type === 'StringLiteral' ? value : quasis.map((/** @type {any} */ each) => each.value.raw).join('x');
  return isText && /\S \S/.test(words) && path.findParent(isErrorMade) ? 'words of an error' : undefined;
}

/** @param {any} node of Babel */
function isLogLine({ type, callee }) {
  if (type !== 'CallExpression' || callee.property?.name !== 'log') return false;
  const { object } = callee;
  return /logger/i.test(object?.property?.id?.name ?? object?.property?.name ?? object?.name ?? '');
}

/** @param {any} parent of Babel */
function isErrorMade({ node }) {
  return node.type === 'ThrowStatement' || (node.type === 'NewExpression' && /Error$/.test(node.callee.name ?? ''));
}

/** @template T @param {readonly T[]} list @param {number} count @param {number} seed @returns {T[]} */
function draw(list, count, seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  next();
  const left = [...list];
  /** @type {T[]} */
  const chosen = [];
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(Math.floor(next() * left.length), 1));
  return chosen;
}
