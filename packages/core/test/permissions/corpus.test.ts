/** Command lines as data, each with what is to be decided about it under stated rules. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RuleTexts } from '../../src/permissions/rules.js';
import { decideCommand, factsOf, outcome } from './support.js';

interface Group {
  readonly about: string;
  readonly rules: RuleTexts;
  readonly commands: readonly (readonly [string, 'allow' | 'ask' | 'deny'])[];
}

const groups: readonly Group[] = JSON.parse(readFileSync(new URL('commands.json', import.meta.url), 'utf8'));

describe('[DAY-002] [DAY-003] what is decided about a command line', () => {
  test('the corpus has at least 300 different lines', () => {
    expect(new Set(groups.flatMap(({ commands }) => commands.map(([line]) => line))).size).toBeGreaterThanOrEqual(300);
  });

  test.each(groups)('$about', ({ rules, commands }) => {
    const facts = factsOf(rules);
    const decided = commands.map(([line]) => [line, outcome(decideCommand(line, facts))]);
    expect(decided).toEqual(commands);
  });
});
