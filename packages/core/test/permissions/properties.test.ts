/** What holds for any command line, and that real shells run nothing but what was read from it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { COMMAND_MAX_CHARACTERS, LINE_COMMANDS_MAX } from '../../src/permissions/limits.js';
import { readShellLine, type SimpleCommand } from '../../src/permissions/shell-line.js';
import { decideCommand, factsOf, outcome } from './support.js';

const RULES = { allow: ['shell(git status *)', 'shell(echo *)', 'shell(cat *)', 'shell(ls *)'], deny: ['shell(rm *)'] };
const facts = factsOf(RULES);

const covered = fc.constantFrom(
  'git status',
  'git status -s',
  'echo hello',
  "echo 'a b'",
  'cat a.txt',
  'ls -l',
  'echo "$x"',
  'echo $(ls)',
);
const separator = fc.constantFrom('; ', ' && ', ' || ', ' | ', ' & ', '\n', ';', '&&', '|', ' ;\n');
const lineOf = fc
  .array(fc.tuple(covered, separator), { minLength: 0, maxLength: 5 })
  .chain((parts) => covered.map((last) => parts.map(([command, sign]) => command + sign).join('') + last));
const others = fc.constantFrom(
  'make',
  'node x.js',
  'git stash',
  './git status',
  'sh x',
  'eval ls',
  'X=1 ls',
  'f() { ls; }',
  'sudo ls',
  'ls > out',
  '$x',
  'python -c 1',
  'env',
  'cat {a,b}',
  'exec ls',
);
const around = fc.constantFrom(
  (inner: string) => inner,
  (inner: string) => `(${inner})`,
  (inner: string) => `{ ${inner}\n}`,
  (inner: string) => `echo $(${inner})`,
  (inner: string) => `echo "$(${inner})"`,
  (inner: string) => `if true; then ${inner}\nfi`,
  (inner: string) => `! ${inner}`,
);

describe('[DAY-002] any line', () => {
  test('covered commands in any order, behind any separators, are allowed', () => {
    fc.assert(
      fc.property(lineOf, (line) => outcome(decideCommand(line, facts)) === 'allow'),
      { numRuns: 300 },
    );
  });

  test('one more command that no rule covers, anywhere in the line, ends that', () => {
    const wrong = fc.tuple(lineOf, separator, others, around, separator, lineOf);
    fc.assert(
      fc.property(wrong, ([before, one, other, wrap, two, after]) => {
        expect(outcome(decideCommand(`${before}${one}${wrap(other)}${two}${after}`, facts))).not.toBe('allow');
        expect(outcome(decideCommand(`${wrap(other)}${two}${after}`, facts))).not.toBe('allow');
        expect(outcome(decideCommand(`${before}${one}${wrap(other)}`, facts))).not.toBe('allow');
      }),
      { numRuns: 400 },
    );
  });

  test('a denied command anywhere in a clear line denies it', () => {
    fc.assert(
      fc.property(lineOf, separator, around, (line, sign, wrap) => {
        const text = `${line}${sign}${wrap('rm x')}`;
        if (readShellLine(text).kind === 'clear') expect(outcome(decideCommand(text, facts))).toBe('deny');
        else expect(outcome(decideCommand(text, facts))).not.toBe('allow');
      }),
      { numRuns: 200 },
    );
  });

  test('a rule more that denies or asks never loosens, and one less that allows never does', () => {
    const pattern = fc.constantFrom('shell', 'shell(git *)', 'shell(cat *)', 'shell(make)', '*', 'edit(**)');
    const strength = { deny: 2, ask: 1, allow: 0 } as const;
    fc.assert(
      fc.property(lineOf, fc.constantFrom('deny', 'ask'), pattern, (line, effect, rule) => {
        const more = factsOf({ ...RULES, [effect]: [...(effect === 'deny' ? RULES.deny : []), rule] });
        expect(strength[outcome(decideCommand(line, more))]).toBeGreaterThanOrEqual(
          strength[outcome(decideCommand(line, facts))],
        );
      }),
      { numRuns: 200 },
    );
  });

  test('any characters at all are read without an error, and quickly', () => {
    const signs = fc.array(
      fc.constantFrom(
        '$',
        '(',
        ')',
        '`',
        '"',
        "'",
        '\\',
        '\n',
        ';',
        '&',
        '|',
        '<',
        '>',
        '{',
        '}',
        '#',
        ' ',
        'a',
        '=',
        '*',
        '~',
        '!',
        '[',
        ']',
        'EOF',
        '<<',
        'if',
        'then',
        'fi',
        'do',
        'done',
        'for',
        'in',
        'case',
        'esac',
        'git',
        'rm',
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 80 }),
          signs.map((all) => all.join('')),
        ),
        (line) => {
          const read = readShellLine(line);
          expect(['clear', 'unclear']).toContain(read.kind);
          decideCommand(line, facts);
        },
      ),
      { numRuns: 1_500 },
    );
  });

  test('limits: a line that is too long, or has too many commands, is asked about', () => {
    const long = `echo ${'a'.repeat(COMMAND_MAX_CHARACTERS - 5)}`;
    expect(outcome(decideCommand(long, facts))).toBe('allow');
    expect(outcome(decideCommand(`${long}a`, facts))).toBe('ask');
    const many = Array.from({ length: LINE_COMMANDS_MAX }, () => 'ls').join(';');
    expect(outcome(decideCommand(many, facts))).toBe('allow');
    expect(outcome(decideCommand(`${many};ls`, facts))).toBe('ask');
  });

  test('a hostile command is decided in time that grows with its length', () => {
    const rules = factsOf({
      allow: Array.from({ length: 200 }, (_, index) => `shell(tool${index} sub *)`).concat(
        'shell(git diff *)',
        'shell(head *)',
      ),
    });
    expect(outcome(decideCommand('git diff --stat HEAD~1 | head -20', rules))).toBe('allow');
    for (const sign of ['(', '$(', '"$(', '`', '{ ', '<<A ', 'a;', "'", '\\\n', '${', 'a #'])
      for (let run = 0; run < 20; run += 1)
        expect(outcome(decideCommand(sign.repeat(COMMAND_MAX_CHARACTERS / sign.length), rules))).not.toBe('allow');
  });
});

describe('[DAY-002] beside real shells', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-shell-read-'));
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['p', 'q', 'r'])
    writeFileSync(path.join(bin, name), `#!/bin/sh\nprintf '%s\\0' ${name} "$@" > "$RAN/$$"\n`, { mode: 0o755 });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const shells = ['/bin/sh', '/bin/bash', '/bin/dash'].filter((shell) => existsSync(shell));

  const word = fc.constantFrom(
    'a',
    "'b c'",
    '"d e"',
    'f\\ g',
    '"h $y"',
    '$z',
    "'$x'",
    '\\$x',
    '"\\"k"',
    'l#m',
    "'#'",
    '$(r n)',
    '`q o`',
    '"$(p s)"',
    '~',
    'a*',
    '\\;',
    "';'",
    '2',
    '"a\\b"',
    "''",
    'x=y',
    '{}',
    '$((1+2))',
    '[',
    ']',
    '!',
  );
  const simple = fc
    .tuple(fc.constantFrom('p', 'q', 'r', "'p'", 'q""', '\\r'), fc.array(word, { maxLength: 4 }))
    .map(([name, words]) => [name, ...words].join(' '));
  const sign = fc.constantFrom(
    '; ',
    ' && ',
    ' || ',
    ' | ',
    ' & ',
    '\n',
    ';',
    '&&',
    '|',
    ' \\\n ',
    ' # c\n',
    ' > out\n',
    ' 2>&1; ',
    ' 2>/dev/null | ',
    " <<'E'\nr hidden\nE\n",
    ' <<E; ',
    '\nE\n',
    ' )',
    ' ( ',
    ' { ',
    ' }\n',
    '; fi\n',
    '\nif ',
    '; then ',
    '! ',
    '\nfor f in ',
    '; do ',
    '; done\n',
    ' <',
    '>',
    '"',
    "'",
  );
  const line = fc
    .array(fc.tuple(simple, sign), { minLength: 1, maxLength: 4 })
    .chain((parts) => simple.map((last) => parts.map(([one, two]) => one + two).join('') + last));

  test.each(shells)('%s runs only programs that were read, with the words that were read', (shell) => {
    let clear = 0;
    fc.assert(
      fc.property(line, (text) => {
        const read = readShellLine(text);
        if (read.kind === 'unclear') return;
        clear += 1;
        for (const words of ranBy(shell, text))
          expect({ text, words, isRead: read.commands.some((command) => isSame(command, words)) }).toEqual({
            text,
            words,
            isRead: true,
          });
      }),
      { numRuns: 250 },
    );
    expect(clear).toBeGreaterThan(20);
  });

  test('the stubs can fail the test: a shell runs what a naive reader overlooks', () => {
    expect(ranBy('/bin/sh', 'p "$(q a)"')).toContainEqual(['q', 'a']);
  });

  /** The words of every program that a shell started. Each writes a file of its own, in a folder of the run. */
  function ranBy(shell: string, text: string): string[][] {
    const ran = mkdtempSync(path.join(folder, 'ran-'));
    spawnSync(shell, ['-c', text], {
      cwd: ran,
      env: { PATH: bin, HOME: '/home/me', RAN: ran },
      stdio: 'ignore',
      timeout: 5_000,
    });
    return readdirSync(ran)
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readFileSync(path.join(ran, name), 'utf8').split('\0').slice(0, -1))
      .filter((words) => words.length > 0);
  }

  /** Words that are made when the line runs may become any number of words. */
  function isSame({ words }: SimpleCommand, ran: readonly string[]): boolean {
    const known = words.findIndex(({ kind, isHome }) => kind !== 'literal' || isHome);
    if (known < 0) return words.length === ran.length && words.every(({ text }, index) => text === ran[index]);
    return words.slice(0, known).every(({ text }, index) => text === ran[index]);
  }
});
