/**
 * Starting other programs and talking to the reader: the few helpers that all scripts share.
 * Node built-ins only, because these scripts run before anything is installed.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** A failure whose message is meant for the reader as it is: no stack trace. */
export class Problem extends Error {}

/** Whether the reader sees colours: only a terminal, and never against NO_COLOR. */
export const colours = process.stdout.isTTY === true && !process.env.NO_COLOR;

/** @param {number} code @returns {(text: string) => string} */
const style = (code) => (text) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = style(1);
export const dim = style(2);
export const red = style(31);
export const green = style(32);
export const yellow = style(33);

/** Progress goes to stderr, so that stdout stays free for results (`--json`). @param {string} text */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** @param {number} ms */
export function duration(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** What children see: colours when we have them, none when we do not. */
function childEnvironment() {
  const { FORCE_COLOR: _, ...env } = process.env;
  return colours ? { ...env, FORCE_COLOR: '1' } : { ...env, NO_COLOR: '1' };
}

/**
 * Runs `node ...args` in the repository and waits for it. `live` shows its output as it comes; otherwise it is
 * collected and returned. After `endAfterMs` it is ended, and `isEnded` says so.
 * @param {string[]} args
 * @param {{ live?: boolean, env?: Record<string, string>, endAfterMs?: number }} [options]
 * @returns {Promise<{ code: number, output: string, isEnded: boolean }>}
 */
export function runNode(args, { live = false, env = {}, endAfterMs } = {}) {
  return run(process.execPath, args, { live, env, endAfterMs });
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {{ live?: boolean, env?: Record<string, string>, shell?: boolean, endAfterMs?: number | undefined }} options
 * @returns {Promise<{ code: number, output: string, isEnded: boolean }>}
 */
export function run(command, args, { live = false, env = {}, shell = false, endAfterMs }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...childEnvironment(), ...env },
      stdio: live ? 'inherit' : ['ignore', 'pipe', 'pipe'],
      shell,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk) => {
        output += chunk;
      });
    }
    // What it has started may hold its output open for a while longer: nobody waits for that.
    const end = () => {
      child.kill();
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ code: 1, output, isEnded: true });
    };
    const timer = endAfterMs === undefined ? undefined : setTimeout(end, endAfterMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output, isEnded: false });
    });
  });
}

/**
 * The path of a dependency's command, to be run with `runNode`. Works on every system, and without the cost of npx.
 * @param {string} packageName
 * @param {string} [command]
 */
export function tool(packageName, command = packageName) {
  const folder = path.join(ROOT, 'node_modules', packageName);
  const { bin } = readJson(path.join(folder, 'package.json'));
  return path.join(folder, typeof bin === 'string' ? bin : bin[command]);
}

/** @param {string} file */
export function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Whether the person wants to read what a script does, and not run it. */
export function isHelpAsked() {
  return process.argv.slice(2).some((word) => word === '--help' || word === '-h');
}

/** What the script that was started says of itself: the comment at its head. */
export function headComment() {
  const source = readFileSync(process.argv[1] ?? '', 'utf8');
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(source) ?? [];
  return comment.replace(/^ *\* ?/gm, '').trim();
}

/**
 * Runs a script's main function; a `Problem` is printed plainly, anything else with its stack. `--help` prints the comment at the
 * head of the script, unless the script has a help of its own.
 * @param {() => unknown} main @param {{ hasHelp?: boolean }} [options]
 */
export async function runMain(main, { hasHelp = false } = {}) {
  if (!hasHelp && isHelpAsked()) return console.log(headComment());
  try {
    await main();
  } catch (error) {
    say(
      error instanceof Problem
        ? `\n${red('error:')} ${error.message}`
        : String(error instanceof Error ? error.stack : error),
    );
    process.exitCode = 1;
  }
}
