import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { jsonSchemaFiles } from '../../scripts/json-schema.js';
import { clientNotifications, clientRequests, hostNotifications, hostRequests } from '../../src/methods.js';
import type { SchemaNode } from '../../src/schema/node.js';
import {
  clientNotificationExamples,
  clientRequestExamples,
  hostNotificationExamples,
  hostRequestExamples,
} from '../support/examples.js';
import { type Fixture, OWN_FIXTURES, PUBLISHED_FIXTURES, readFixtures } from '../support/fixtures.js';

const folder = new URL('../../schema/', import.meta.url);
const built = new Map(readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]));
const SPEC = new URL('../../../../../shared/spec/ahp-wire.md', import.meta.url);

/** What other languages use: the files that the build puts into the package, in the strictest mode there is. */
const ajv = new Ajv2020({ strict: true, allErrors: true });
for (const content of built.values()) ajv.addSchema(JSON.parse(content));

function errorsOf(file: string, definition: string, value: unknown): unknown {
  const validate = ajv.getSchema(`urn:atrium:ahp:0.3.0:${file}#/$defs/${definition}`);
  if (!validate) throw new Error(`no ${definition} in ${file}`);
  return validate(JSON.parse(JSON.stringify(value))) ? [] : validate.errors;
}

describe('the generated JSON Schema files', () => {
  it('are what the schemas say (if not: npm run build)', () => {
    expect([...built.keys()].sort()).toEqual([...jsonSchemaFiles().keys()].sort());
    for (const [name, content] of jsonSchemaFiles()) expect(built.get(name), name).toBe(content);
  });

  it.each([...built])('%s: every definition compiles in strict mode, with no reference left dangling', (_, content) => {
    const { $id, $schema, $comment, $defs } = JSON.parse(content);
    expect($schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect($comment).toContain('Generated');
    for (const name of Object.keys($defs)) expect(ajv.getSchema(`${$id}#/$defs/${name}`), name).toBeTypeOf('function');
  });

  it('never forbid a member that they do not know', () => {
    const closed = [...built].filter(([name]) => name !== 'provider.schema.json');
    for (const [name, content] of closed) expect(content, name).not.toContain('"additionalProperties": false');
  });
});

describe('an example of every message', () => {
  const idOf = (schema: object) => (schema as SchemaNode).$id ?? '';

  it.each(Object.entries({ ...clientRequestExamples, ...hostRequestExamples }))('%s', (method, { params, result }) => {
    const schemas = { ...clientRequests, ...hostRequests }[method as keyof typeof clientRequests];
    expect(errorsOf('commands', idOf(schemas.params), params)).toEqual([]);
    expect(errorsOf('commands', idOf(schemas.result), result)).toEqual([]);
  });

  it.each(Object.entries(clientNotificationExamples))('%s', (method, params) => {
    const schema = clientNotifications[method as keyof typeof clientNotifications];
    expect(errorsOf('commands', idOf(schema), params)).toEqual([]);
  });

  it.each(Object.entries(hostNotificationExamples))('%s', (method, params) => {
    const schema = hostNotifications[method as keyof typeof hostNotifications];
    expect(errorsOf('notifications', idOf(schema), params)).toEqual([]);
  });
});

const STATES = {
  root: 'RootState',
  session: 'SessionState',
  terminal: 'TerminalState',
  changeset: 'ChangesetState',
  resourceWatch: 'ResourceWatchState',
};

function fixtureErrors({ reducer, initial, expected, actions }: Fixture): unknown[] {
  const states = [initial, expected].flatMap((state) => errorsOf('state', STATES[reducer], undefinedForNull(state)));
  return [...states, ...actions.flatMap((action) => errorsOf('actions', 'StateAction', undefinedForNull(action)))];
}

/** In a fixture `null` stands for `undefined`, which JSON leaves out. */
function undefinedForNull(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, inner) => inner ?? undefined);
}

describe('every reducer fixture', () => {
  it.each(readFixtures(OWN_FIXTURES).map((fixture) => [fixture.file, fixture] as const))('%s', (_, fixture) =>
    expect(fixtureErrors(fixture)).toEqual([]),
  );

  const published = readFixtures(PUBLISHED_FIXTURES);
  it.skipIf(published.length === 0)('of AHP 0.2.0 (skipped: not in this checkout)', () => {
    for (const fixture of published) expect(fixtureErrors(fixture), fixture.file).toEqual([]);
  });
});

describe('the examples in the text of the protocol', () => {
  it.skipIf(!existsSync(SPEC))('are valid (skipped: the text is not in this checkout)', () => {
    const blocks = [...readFileSync(SPEC, 'utf8').matchAll(/```json\n(.*?)```/gs)].map((match) => match[1] ?? '');
    const frames = blocks.flatMap((block) => block.split(/\n(?=\{"jsonrpc")/)).map((text) => JSON.parse(text));
    expect(frames.length).toBeGreaterThanOrEqual(3);
    for (const frame of frames) expect(frameErrors(frame)).toEqual([]);
  });

  function frameErrors({ method, params, result }: { method?: string; params?: unknown; result?: unknown }): unknown {
    if (method === 'action') return errorsOf('notifications', 'ActionEnvelope', params);
    if (method === 'systemMessageTransform') return errorsOf('commands', 'SystemMessageTransformParams', params);
    return errorsOf('commands', 'SystemMessageTransformResult', result);
  }
});
