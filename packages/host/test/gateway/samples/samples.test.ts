/** The sample providers that are printed in the provider interface run as they stand. See `support/printed.ts`. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { shownCode, until } from '../../support/gateway-connections.js';
import { stateOf } from '../../support/session-fixture.js';
import { indented, printedSamples } from './support/printed.js';
import { openPage, openSampleFixture, type SampleFixture } from './support/sample-host.js';

const samples = printedSamples();
const TIMEOUT = { timeout: 30_000 };
const PYTHON = process.env.ATRIUM_TEST_PYTHON ?? 'python3';

/** The sample, or a word why there is none. */
function given(text: string | undefined, context: TestContext): string {
  return text ?? context.skip('ATRIUM_PROVIDER_SAMPLES names no file that prints this sample');
}

/** A project that declares a sample as its provider. Its process leaves its id, so that it can be held up. */
function project(command: string, file: string, text: string): Record<string, string> {
  const provider = { command: '/bin/sh', args: ['-c', `echo $$ > pid; exec ${command} ${file}`] };
  return { [file]: text, 'atrium.json': JSON.stringify({ providers: { sample: provider } }) };
}

async function offered({ client }: SampleFixture, uri: string, ...names: string[]): Promise<void> {
  const look = async () => (await stateOf(client, uri)).serverTools?.map(({ name }) => name) ?? [];
  await expect.poll(look, { timeout: 15_000 }).toEqual(expect.arrayContaining(names));
}

function processOf({ folder }: SampleFixture) {
  const pid = Number(readFileSync(path.join(folder, 'pid'), 'utf8'));
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended already.
    }
  };
  return { stop: () => signal('SIGSTOP'), goOn: () => signal('SIGCONT') };
}

describe('the printed sample', () => {
  it.for([
    ['of the quick start', 0, 'greet'],
    ['for Node', 1, 'say_hello'],
  ] as const)('[GW-030] [GW-122] %s runs as it stands', TIMEOUT, async ([, index, tool], context) => {
    const text = given(samples?.node[index], context);
    const fixture = await openSampleFixture(project(process.execPath, 'sample.mjs', text), context);
    await runs(fixture, tool, { input: { name: 'desk' }, output: 'Hello, desk!' });
  });

  it(
    '[GW-030] [GW-122] for Python runs as it stands, but for the spaces that a copy may have lost',
    TIMEOUT,
    async (context) => {
      const printed = given(samples?.python, context);
      const isPython = (text: string) => pythonAccepts('import ast, sys; ast.parse(sys.stdin.read())', text);
      // Some copies of the text have no spaces at the beginning of lines, and without them it is no Python.
      const text = isPython(printed) ? printed : indented(printed);
      if (text === undefined || !isPython(text)) return context.skip('this copy of the sample is no Python');
      if (!pythonAccepts('import websockets', '')) context.skip(`${PYTHON} has no module "websockets" here`);
      const fixture = await openSampleFixture(project(PYTHON, 'sample.py', text), context);
      await runs(fixture, 'compute', { input: { expr: '6 * 7' }, output: '42' });
    },
  );

  it('[GW-037] [GW-078] [GW-122] for browsers runs as it stands, and comes back', TIMEOUT, async (context) => {
    const text = given(samples?.browser, context);
    const fixture = await openSampleFixture({ 'sample.js': text }, context);
    const uri = await fixture.session();
    const page = openPage(path.join(fixture.folder, 'sample.js'));
    await page.said('prompt');
    page.type(await shownCode(fixture.client, uri));
    await offered(fixture, uri, 'page_title', 'screenshot');
    const before = await providersIn(fixture, uri);
    expect(await approved(fixture, uri, 'page_title')).toMatchObject({ text: 'A page' });
    expect(await approved(fixture, uri, 'screenshot')).toMatchObject({ success: true });

    fixture.transports.at(-1)?.close(1001, 'the line is cut');
    await expect.poll(() => fixture.transports.length, { timeout: 10_000 }).toBe(2);
    await expect.poll(() => fixture.said.filter(({ type }) => type === 'hello').length).toBe(2);
    expect(fixture.said.findLast(({ type }) => type === 'auth')).toMatchObject({
      token: expect.stringMatching(/^ext-tok-/),
    });
    await offered(fixture, uri, 'page_title', 'screenshot');
    expect(await providersIn(fixture, uri)).toEqual(before);
    expect(await approved(fixture, uri, 'page_title')).toMatchObject({ text: 'A page' });

    const stuck = page.said('stuck');
    page.type('stuck');
    await stuck;
    await cancelsCalls(fixture, uri, 'screenshot', async () => {
      await until(() => fixture.said.filter(({ type }) => type === 'tool.progress')[1]);
    });
  });
});

/** Registered, called by the model, and stopped by a person. */
async function runs(fixture: SampleFixture, tool: string, call: { input: object; output: string }): Promise<void> {
  const uri = await fixture.session();
  await offered(fixture, uri, tool);
  const { turn, finish } = await fixture.turn(uri);
  expect(await turn.callTool({ name: tool, input: call.input })).toMatchObject({ success: true, text: call.output });
  finish();
  await fixture.client.action(uri, 'session/turnComplete');
  const hold = processOf(fixture);
  hold.stop();
  onTestFinished(() => hold.goOn());
  await cancelsCalls(fixture, uri, tool, async () => {});
  hold.goOn();
  await cancellationOf(fixture);
}

/** Calls a tool of a stranger: a person has to say yes. */
async function approved(fixture: SampleFixture, uri: string, name: string) {
  const { turn, finish } = await fixture.turn(uri);
  const outcome = turn.callTool({ name, input: {} });
  await approve(fixture, uri, turn.id);
  const done = await outcome;
  finish();
  await fixture.client.action(uri, (action) => action.type === 'session/turnComplete' && action.turnId === turn.id);
  return done;
}

async function approve({ client }: SampleFixture, uri: string, turnId: string): Promise<void> {
  const isReady = (action: { type: string; turnId?: string }) =>
    action.type === 'session/toolCallReady' && action.turnId === turnId;
  const { action } = await client.action(uri, isReady);
  const toolCallId = String(action.toolCallId);
  if (action.confirmed !== undefined) return;
  client.dispatch(uri, {
    type: 'session/toolCallConfirmed',
    turnId,
    toolCallId,
    approved: true,
    confirmed: 'user-action',
  });
}

/** A call is under way, and a person stops the turn. */
async function cancelsCalls(
  fixture: SampleFixture,
  uri: string,
  name: string,
  underWay: () => Promise<void>,
): Promise<void> {
  const { turn } = await fixture.turn(uri);
  const outcome = turn.callTool({ name, input: { name: 'phone', expr: '1' } }).catch(() => undefined);
  await approve(fixture, uri, turn.id);
  await underWay();
  fixture.client.dispatch(uri, { type: 'session/turnCancelled', turnId: turn.id });
  await outcome;
  if (name === 'screenshot') await cancellationOf(fixture);
}

async function cancellationOf({ said }: SampleFixture): Promise<void> {
  const cancelled = () => said.find(({ type, errorCode }) => type === 'tool.result' && errorCode === 'CANCELLED');
  expect(await until(cancelled)).toMatchObject({ error: 'Cancelled' });
}

async function providersIn({ client }: SampleFixture, uri: string): Promise<unknown> {
  const { _meta } = await stateOf(client, uri);
  return (_meta?.gateway as { providers?: unknown } | undefined)?.providers;
}

function pythonAccepts(program: string, input: string): boolean {
  return spawnSync(PYTHON, ['-c', program], { input }).status === 0;
}
