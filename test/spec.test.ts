/** The check of rules and tests can fail: each mistake is made in a small repository, and is named with its place. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkSpec, conformanceTable, proofsOf, rulesOf } from '../scripts/spec.mjs';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Put together here, because an id that stands in this file would count as one of this repository. */
const id = (number: number) => `[XY-00${number}]`;
const rule = (number: number, text = 'The host does it.') => `- **${id(number)}** ${text}\n`;
const test = (number: number, title = 'does it') =>
  `describe('a host', () => {\n  it('${id(number)} ${title}');\n});\n`;

/** A repository with these files, and with a table that fits them unless it brings one. */
function repository(files: Record<string, string>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'atrium-spec-'));
  folders.push(root);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  if (!('docs/generated/conformance.md' in files)) checkSpec(root, { write: true });
  return root;
}

const PAGE = 'docs/spec/host.md';
const TEST = 'packages/host/test/a.test.ts';

describe('a repository', () => {
  it('is in order when every rule has a test, or a reason why it has none', () => {
    const page = `# Host\n\n${rule(1)}\n## Omissions\n\n${rule(2, 'It also flies. *Omitted:* nobody asked for it.')}`;
    expect(checkSpec(repository({ [PAGE]: page, [TEST]: test(1) })).problems).toEqual([]);
  });

  it.each([
    [
      'a title names a rule that nobody wrote',
      { [PAGE]: rule(1), [TEST]: test(1) + test(2) },
      `${TEST}:5: ${id(2)} is not defined; write the rule into a page of docs/spec`,
    ],
    [
      'a rule is written twice',
      { [PAGE]: rule(1), 'docs/spec/other.md': rule(1), [TEST]: test(1) },
      `docs/spec/other.md:1: ${id(1)} is defined already in ${PAGE}:1`,
    ],
    [
      'a rule has no test',
      { [PAGE]: rule(1) + rule(2), [TEST]: test(1) },
      `${PAGE}:2: no test names ${id(2)}; put it into a title, or under "## Omissions" with a reason`,
    ],
    [
      'an omitted rule has a test',
      { [PAGE]: `## Omissions\n${rule(1, 'It flies. *Omitted:* no wings.')}`, [TEST]: test(1) },
      `${TEST}:2: ${id(1)} is tested, but ${PAGE}:2 omits it`,
    ],
    [
      'a rule is omitted without a reason',
      { [PAGE]: `## Omissions\n${rule(1)}` },
      `${PAGE}:2: ${id(1)} is omitted without a reason; add "*Omitted:* why"`,
    ],
    [
      'a rule is omitted in the middle of the page',
      { [PAGE]: rule(1, 'It flies. *Omitted:* no wings.') },
      `${PAGE}:1: ${id(1)} is omitted; move it under "## Omissions"`,
    ],
    ['a rule says nothing', { [PAGE]: rule(1, ''), [TEST]: test(1) }, `${PAGE}:1: ${id(1)} has no text`],
    [
      'a rule has another form',
      { [PAGE]: `${rule(1)}- ${id(2)} The host does it.\n`, [TEST]: test(1) },
      `${PAGE}:2: write a rule as "- **[ID]** The rule."`,
    ],
    [
      'the table is old',
      { [PAGE]: rule(1), [TEST]: test(1), 'docs/generated/conformance.md': '# Conformance\n' },
      'docs/generated/conformance.md: not up to date; run "node scripts/spec.mjs --write"',
    ],
  ] as [string, Record<string, string>, string][])('is not when %s', (_, files, problem) => {
    expect(checkSpec(repository(files)).problems).toEqual([problem]);
  });

  it('gets a table that fits when it is written anew', () => {
    const root = repository({ [PAGE]: rule(1), [TEST]: test(1) });
    writeFileSync(path.join(root, TEST), test(1, 'does it again'));
    expect(checkSpec(root).problems).toHaveLength(1);
    expect(checkSpec(root, { write: true }).problems).toEqual([]);
    expect(checkSpec(root).problems).toEqual([]);
    expect(readFileSync(path.join(root, 'docs/generated/conformance.md'), 'utf8')).toContain('a host: does it again');
  });
});

describe('a rule', () => {
  it('may go on in the lines below it', () => {
    const { rules } = rulesOf(PAGE, `${rule(1, 'The host')}  does it.\n\nAnd more.\n`);
    expect(rules).toMatchObject([{ text: 'The host does it.', line: 1 }]);
  });

  it('stands in the table with its first sentence, and with its tests by file', () => {
    const { rules } = rulesOf(PAGE, rule(1, 'It speaks 0.2.0 and `a | b`. More stands in the page.'));
    const proofs = [1, 2, 3, 4, 5].flatMap((count) => proofsOf(TEST, test(1, `does *it* ${count}`)));
    const row = conformanceTable({ rules, proofs })
      .split('\n')
      .find((line) => line.startsWith('| XY'));
    expect(row).toBe(
      `| XY-001 | It speaks 0.2.0 and \`a \\| b\`. | [a.test.ts](../../${TEST}) ` +
        'a host: does \\*it\\* 1 · does \\*it\\* 2 · 3 more |',
    );
  });
});

describe('a title', () => {
  const titles = (text: string) => proofsOf(TEST, text).map(({ group, title }) => [group, title]);

  it('is found in calls, in cases, in templates and with several ids', () => {
    expect(titles(`it.each(CASES)(\n  '${id(1)}${id(2)} is %s',\n);\n`)).toEqual([
      ['', 'is %s'],
      ['', 'is %s'],
    ]);
    expect(titles(`  push: ['${id(1)} ', true],\n`)).toEqual([['', 'push']]);
    expect(titles(`it(\`${id(1)} waits \${COUNT} s\`);\n`)).toEqual([['', 'waits … s']]);
    expect(titles(`it("${id(1)} is the host's", () => {});\n`)).toEqual([['', "is the host's"]]);
  });

  it('stands in the groups around it', () => {
    const text = `describe('a', () => {\n  describe('b', () => {\n    it('${id(1)} c');\n  });\n  it('${id(2)} d');\n});\n`;
    expect(titles(`${text}it('${id(3)} e');\n`)).toEqual([
      ['a: b', 'c'],
      ['a', 'd'],
      ['', 'e'],
    ]);
  });

  it('is not a comment', () => {
    expect(titles(`// '${id(1)} said'\n/** '${id(2)}' */\n * '${id(3)}'\n`)).toEqual([]);
  });
});
