/** Command lines in the pages name commands and options that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { program } from '../src/cli.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGES = ['README.md', 'CONTRIBUTING.md', ...markdownIn('docs'), ...markdownIn('examples')];

function markdownIn(folder: string): string[] {
  const files = readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.md')).map((file) => path.join(folder, file));
}

/** The command lines of a page: in blocks for the shell, and between backquotes. */
function commandLines(text: string): string[] {
  const blocks = [...text.matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```$/gm)].flatMap(([, code = '']) => code.split('\n'));
  const inline = [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`((?:atrium|npm start --) [^`]+)`/g)];
  return [...blocks, ...inline.map(([, code = '']) => code)].flatMap(callsIn);
}

/** What a line runs of ours. `npm start --` hands its options to `atrium serve`. */
function callsIn(line: string): string[] {
  const plain = line.replace(/(^|\s)#.*$/, '').replaceAll(/"[^"]*"|'[^']*'/g, 'TEXT');
  const calls = plain.replaceAll(/\bnpm start --(?= )/g, 'atrium serve').split(/[|;&()<>]/);
  return calls.flatMap((call) => /(?:^|\s)(atrium\s.+)$/.exec(call.trim())?.[1] ?? []);
}

/** The command that a line names, with those that it is part of. */
function commandsIn(words: readonly string[]): Command[] {
  const path: Command[] = [program()];
  for (const word of words) {
    const next = path.at(-1)?.commands.find((each) => each.name() === word);
    if (!next) break;
    path.push(next);
  }
  return path;
}

/** What is wrong with a command line, or nothing. `<command>` stands for any. */
function mistakes(line: string): string[] {
  // What stands after -- goes to another command: of ours, to `atrium serve`.
  const [own = '', ...forServe] = line.split(' -- ');
  if (forServe.length > 0) return [own, `atrium serve ${forServe.join(' ')}`].flatMap(mistakes);
  const [, ...words] = line.split(/\s+/);
  const commands = commandsIn(words);
  const known = commands.flatMap((each) => each.options).flatMap(({ long, short }) => [long, short]);
  const options = words.filter((word) => /^--?\w/.test(word)).map((word) => word.replace(/=.*/, ''));
  const isWhole =
    commands.at(-1)?.commands.length === 0 ||
    options.some((option) => /^--(help|version)$/.test(option)) ||
    words[0]?.startsWith('<');
  const unknown = options.filter((option) => option !== '--help' && !known.includes(option));
  return isWhole ? unknown : [`no such command: ${line}`];
}

describe('command lines in the pages', () => {
  const lines = PAGES.map((file) => [file, commandLines(readFileSync(path.join(ROOT, file), 'utf8'))] as const);

  it('are found', () => {
    expect(lines.flatMap(([, found]) => found).length).toBeGreaterThan(40);
  });

  it.each(lines.filter(([, found]) => found.length > 0))('%s: every one is right', (_file, found) => {
    expect(found.flatMap(mistakes)).toEqual([]);
  });

  it.each([
    ['atrium chat --agent offline', []],
    ['atrium sessions list --json', []],
    ['atrium sessions', ['no such command: atrium sessions']],
    ['atrium sing', ['no such command: atrium sing']],
    ['atrium chat --loud', ['--loud']],
    ['atrium service install -- --port 0', []],
    ['atrium service install -- --prot 0', ['--prot']],
    ['atrium <command> --help', []],
  ])('would notice: %s', (line, expected) => {
    expect(mistakes(line)).toEqual(expected);
  });

  it.each([
    ['git diff | atrium run "write --this" -', ['atrium run TEXT -']],
    ['source <(atrium completions bash)    # --comment', ['atrium completions bash']],
    ['npm start -- --port 0', ['atrium serve --port 0']],
    ['npm start', []],
  ])('reads %s', (line, expected) => {
    expect(callsIn(line)).toEqual(expected);
  });
});
