import { INPUT_MAX_CHARACTERS, schemaProblem } from '@atrium/core/tool-calls/arguments.js';
import { describe, expect, it } from 'vitest';
import { openPuppetFixture } from '../support/session-fixture.js';
import { settle } from '../support/test-host.js';
import { type EchoTool, echoTool } from '../support/tools.js';
import { approve, call, callState, extension, gate, typesOf } from './support.js';

const SCHEMA = {
  type: 'object' as const,
  properties: {
    to: { type: 'string', enum: ['main', 'side'] },
    times: { type: ['integer', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    where: { type: 'object', properties: { line: { type: 'integer' } }, required: ['line'] },
  },
  required: ['to'],
};

function pushTool(): EchoTool {
  return { ...echoTool('push'), definition: { name: 'push', inputSchema: SCHEMA } };
}

describe('the check of arguments', () => {
  it.each<[unknown, string]>([
    [{}, 'the whole must have "to"'],
    [{ to: 3 }, '"to" must be a string, but is 3'],
    [{ to: 'moon' }, '"to" must be one of ["main","side"], but is "moon"'],
    [{ to: 'main', times: 1.5 }, '"times" must be an integer or null, but is 1.5'],
    [{ to: 'main', tags: 'a' }, '"tags" must be an array, but is "a"'],
    [{ to: 'main', tags: ['a', 1] }, '"tags.1" must be a string, but is 1'],
    [{ to: 'main', where: {} }, '"where" must have "line"'],
    [{ to: 'main', where: { line: '1' } }, '"where.line" must be an integer, but is "1"'],
  ])('[UNI-039] finds what is wrong with %j', (value, problem) => {
    expect(schemaProblem(SCHEMA, value)).toBe(problem);
  });

  it.each<[string, unknown, unknown]>([
    ['what fits', SCHEMA, { to: 'main', times: null, tags: [], where: { line: 1 } }],
    ['members that are not named', SCHEMA, { to: 'main', more: true }],
    ['words that it does not know', { oneOf: [{ type: 'string' }], type: 'thing', pattern: '^a' }, { a: 1 }],
    ['references', { $ref: '#/x', type: 'string' }, 1],
    ['names of every object', { properties: {} }, { constructor: 1, toString: 2 }],
    ['a schema that is none', true, 1],
    ['lists of objects to choose from', { enum: [{ a: 1 }] }, { a: 1 }],
  ])('[UNI-039] lets %s pass', (_what, schema, value) => {
    expect(schemaProblem(schema, value)).toBeUndefined();
  });
});

describe('a call whose arguments do not fit', () => {
  it('[UNI-039] fails before gates are asked, and says what is wrong', async () => {
    const watcher = gate('ci-watcher');
    const tool = pushTool();
    const fixture = await openPuppetFixture({ tools: [tool], extensions: [extension('w', { gates: [watcher] })] });
    const outcome = await call(fixture.puppet.turn, 'push', { input: { to: 'moon' } });
    expect(outcome).toMatchObject({ kind: 'completed', success: false, text: expect.stringContaining('one of') });
    expect(await callState(fixture.client, fixture.uri)).toMatchObject({
      status: 'completed',
      error: { code: 'BAD_INPUT' },
    });
    expect([tool.runs, watcher.asked]).toEqual([[], []]);
  });

  it.each([[''], [undefined], ['{}']])('may be nothing at all where a tool wants nothing (%j)', async (input) => {
    const tool = echoTool('list');
    const fixture = await openPuppetFixture({ tools: [tool] });
    expect(await call(fixture.puppet.turn, 'list', { input })).toMatchObject({ success: true });
    expect(tool.runs).toEqual([{}]);
  });
});

describe('input that a person changed', () => {
  it('[UNI-039] is checked like the input of the model, and what does not fit does not run', async () => {
    const asking = echoTool('push', { confirmation: { title: 'Push?', editable: true } });
    const tool = { ...asking, definition: { name: 'push', inputSchema: SCHEMA } };
    const fixture = await openPuppetFixture({ tools: [tool] });
    const outcome = call(fixture.puppet.turn, 'push', { input: { to: 'main' } });
    await fixture.client.action(fixture.uri, 'session/toolCallReady');
    approve(fixture, { editedToolInput: '{"to":"moon"}' });
    expect(await outcome).toMatchObject({ kind: 'denied', reason: expect.stringContaining('must be one of') });
    expect(tool.runs).toEqual([]);
  });
});

describe('input without an end', () => {
  const ENDLESS = 'x'.repeat(INPUT_MAX_CHARACTERS / 2);

  it('is shown up to a limit, and what is longer does not run', async () => {
    const tool = echoTool('list');
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    const begun = puppet.turn.beginCall({ id: 'c1', name: 'list' });
    for (let chunk = 0; chunk < 4; chunk++) begun.delta(ENDLESS);
    await settle();
    const { partialInput } = (await callState(client, uri)) as { partialInput?: string };
    expect(partialInput).toHaveLength(INPUT_MAX_CHARACTERS);
    const outcome = await begun.run({ text: ENDLESS.repeat(3) });
    expect(outcome).toMatchObject({ success: false, text: expect.stringContaining('4 MiB are allowed') });
    expect(tool.runs).toEqual([]);
  });

  it('is shown up to a limit where the agent runs the tool itself', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    const own = puppet.turn.agentRunCall({ id: 'c1', name: 'bash', displayName: 'Bash' });
    for (let chunk = 0; chunk < 4; chunk++) own.delta(ENDLESS);
    await settle();
    const { partialInput } = (await callState(client, uri)) as { partialInput?: string };
    expect(partialInput).toHaveLength(INPUT_MAX_CHARACTERS);
  });
});

describe('input that streams', () => {
  it('[CUS-130] [UNI-014] is shown as it comes, and the tool gets the whole', async () => {
    const tool = pushTool();
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    const begun = puppet.turn.beginCall({ id: 'c1', name: 'push' });
    begun.delta('{"to":');
    await settle();
    expect(await callState(client, uri)).toMatchObject({ status: 'streaming', partialInput: '{"to":' });
    begun.delta('"main"}');
    expect(await begun.run('{"to":"main"}')).toMatchObject({ success: true });
    expect(tool.runs).toEqual([{ to: 'main' }]);
    expect(typesOf(client, uri)).toEqual(['Start', 'Delta', 'Delta', 'Ready', 'Complete']);
  });

  it('and cannot be run after all ends as failed, with what there was of it', async () => {
    const tool = pushTool();
    const { client, uri, puppet } = await openPuppetFixture({ tools: [tool] });
    const begun = puppet.turn.beginCall({ id: 'c1', name: 'push' });
    begun.delta('{"to":');
    expect(await begun.fail('the model broke off')).toMatchObject({ success: false, text: 'the model broke off' });
    expect(await callState(client, uri)).toMatchObject({ status: 'completed', toolInput: '{"to":', success: false });
    expect(tool.runs).toEqual([]);
  });

  it('and is never completed goes with the turn', async () => {
    const { client, uri, puppet } = await openPuppetFixture({ tools: [pushTool()] });
    puppet.turn.beginCall({ id: 'c1', name: 'push' }).delta('{');
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    expect(await callState(client, uri)).toMatchObject({ status: 'cancelled', reason: 'skipped' });
  });
});
