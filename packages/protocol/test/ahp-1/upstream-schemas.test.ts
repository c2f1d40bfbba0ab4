/** The published JSON Schemas and round trips of 0.7.0: 1.0 as we have it can say everything that 0.7.0 could. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../scripts/bundle.js';
import { livingWire } from '../../scripts/frozen.js';
import { jsonSchemaFiles } from '../../scripts/json-schema.js';
import { AHP_1_WIRE } from '../../scripts/wires.js';
import { readJson, UPSTREAM_FOLDER } from './support/upstream-0.7.js';

interface Members {
  readonly properties?: Record<string, JsonSchema>;
  readonly required?: string[];
}

/** Members that 1.0 replaced or dropped, with the rule that says so. */
const DROPPED: Readonly<Record<string, string>> = {
  'Turn.error': 'UP-209',
  'ChatErrorAction.error': 'UP-209',
  'PluginCustomization.enabled': 'UP-210',
  'ClientPluginCustomization.enabled': 'UP-210',
  'McpServerCustomization.enabled': 'UP-210',
  'SessionCustomizationToggledAction.enabled': 'UP-210',
  'TerminalInfo.exitCode': 'UP-211',
  'TerminalState.exitCode': 'UP-211',
  'Annotation.turnId': 'UP-212',
};

/** Members that are required now and did not exist in 0.7.0. */
const REQUIRED_NOW: Readonly<Record<string, string>> = {
  'ChatErrorAction.part': 'UP-209',
  'SessionCustomizationToggledAction.enablement': 'UP-210',
  'TerminalInfo.lifecycle': 'UP-211',
  'TerminalState.lifecycle': 'UP-211',
  'TerminalSessionClaim.chat': 'UP-211',
  'Annotation.origin': 'UP-212',
};

/** Upstream spells one name otherwise; some of its definitions are only parts that others include. */
const OTHER_NAMES: Readonly<Record<string, string>> = { ResourceReponsePart: 'ResourceResponsePart' };

const rounds = readJson<{ type: string; input: unknown }>('round-trips');
const ours = livingWire(AHP_1_WIRE.schemas).definitions as Readonly<Record<string, Members>>;
const theirs = (): [string, Members][] =>
  ['state', 'actions', 'commands', 'notifications'].flatMap((name) => {
    const text = readFileSync(join(UPSTREAM_FOLDER, 'schema', `${name}.schema.json`), 'utf8');
    return Object.entries(JSON.parse(text).$defs as Record<string, Members>);
  });

describe.skipIf(rounds.length === 0)('the published JSON Schemas of AHP 0.7.0 (skipped: not here)', () => {
  const shared = rounds.length === 0 ? [] : theirs();
  const pairs = shared.flatMap(([name, schema]) => {
    const own = ours[OTHER_NAMES[name] ?? name];
    return own && schema.properties ? [{ name, was: schema, is: own }] : [];
  });

  it('lost no member but those that 1.0 replaced', () => {
    expect(new Set(pairs.map(({ name }) => name)).size).toBeGreaterThan(190);
    const lost = pairs.flatMap(({ name, was, is }) =>
      Object.keys(was.properties ?? {})
        .filter((member) => !is.properties?.[member])
        .map((member) => `${name}.${member}`),
    );
    expect([...new Set(lost)].sort()).toEqual(Object.keys(DROPPED).sort());
  });

  it('require the same members', () => {
    const required = ({ required = [] }: Members) => new Set(required);
    const more = pairs.flatMap(({ name, was, is }) =>
      [...required(is)].filter((member) => !required(was).has(member)).map((member) => `${name}.${member}`),
    );
    const fewer = pairs.flatMap(({ name, was, is }) =>
      [...required(was)]
        .filter((member) => !required(is).has(member) && is.properties?.[member])
        .map((member) => `${name}.${member}`),
    );
    expect([...new Set(more)].sort()).toEqual(Object.keys(REQUIRED_NOW).sort());
    expect([...new Set(fewer)].sort()).toEqual([]);
  });
});

describe.skipIf(rounds.length === 0)('[UP-003] the published round trips of AHP 0.7.0 (skipped: not here)', () => {
  const ajv = new Ajv2020({ strict: false });
  for (const [name, content] of jsonSchemaFiles()) if (name.startsWith('ahp-1-')) ajv.addSchema(JSON.parse(content));
  const validator = (definition: string) =>
    ['state', 'actions', 'commands', 'notifications', 'errors']
      .map((file) => ajv.getSchema(`urn:atrium:ahp:1.0.0:${file}#/$defs/${definition}`))
      .find(Boolean);

  /** Types that TypeScript has no name for, and a channel that is not the one of 1.0. */
  const NAMED: Readonly<Record<string, string>> = { PartialSessionSummary: 'SessionSummaryChanges' };
  const SKIPPED = ['019-channel-scoped-notification-uri.json'];
  const known = rounds.filter(({ file, type }) => validator(NAMED[type] ?? type) && !SKIPPED.includes(file));

  it('are about types that 1.0 has, too', () => {
    const left = rounds.filter((round) => !known.includes(round)).map(({ type }) => type);
    expect([...new Set(left)].sort()).toEqual(['JsonRpcMessage', 'SessionAddedParams']);
  });

  it.each(known.map((round) => [round.file, round] as const))('%s', (_file, { type, input }) => {
    const validate = validator(NAMED[type] ?? type);
    expect(validate?.(input), JSON.stringify(validate?.errors)).toBe(true);
  });
});
