/** A long output of a tool: what the model reads of it, how it reads the rest, and that people have the whole. */

import { MODEL_OUTPUT_MAX_CHARACTERS, MODEL_OUTPUT_MIN_CHARACTERS } from '@atrium/core/tool-calls/limits.js';
import { cutForModel } from '@atrium/core/tool-calls/results.js';
import { RESULT_LINE_MAX_CHARACTERS } from '@atrium/core/util/text.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { mcpResult } from '../../../agents/src/shared/tool-results.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { dataFolder, openLog } from '../support/log-folders.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { callsIn, openPuppetFixture, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { startTestHost, type TestHostOptions } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

const LINES = 13_000;
const OUTPUT = Array.from({ length: LINES }, (_, index) => `output line ${index + 1}`).join('\n');
/** In tokens, of some four characters each. */
const WINDOW = 32_000;
const COUNT = { calls: [{ name: 'count', input: {} }] };

/** The model server, and what makes a host that talks to it. */
async function served(answers: ServedAnswer[], options: TestHostOptions = {}) {
  const server = await ModelServer.start(...answers);
  onTestFinished(() => server.stop());
  const models = [{ id: 'm-1', name: 'M 1', maxContextWindow: WINDOW }];
  const agent = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
  const agents = [modelAgent({ ...agent, baseURL: server.url })];
  const tools = [...builtinTools(), echoTool('count', { work: () => OUTPUT })];
  return { server, options: { scripts: [], agents, tools, dataFolder: await tempFolder({}), ...options } };
}

async function runTurn(host: Awaited<ReturnType<typeof startHost>>, uri?: string, turnId = 't1') {
  const client = await host.client(`desk-${turnId}`);
  const session = uri ?? (await client.session(undefined, { provider: 'model' }));
  await client.request('subscribe', { channel: session });
  client.dispatch(session, turnStarted(turnId, 'Count.'));
  await client.until(({ params }) => (params?.action as { type?: string })?.type === 'session/turnComplete', 15_000);
  return { client, uri: session };
}

/** What the last tool result in a request says. */
function lastResult(server: ModelServer, request = -1): string {
  const body = server.requests.at(request)?.body as { messages: { role: string; content: string }[] } | undefined;
  return body?.messages.findLast(({ role }) => role === 'tool')?.content ?? '';
}

/** The input that the model is advised to call `read_file` with. */
function adviceIn(text: string): { path: string; startLine: number; endLine: number } {
  const [, input = '{}'] = /Read them with read_file, for example (\{.*?\})\./.exec(text) ?? [];
  return JSON.parse(input);
}

describe('a long output', () => {
  it('[REL-059] reaches the model as beginning and end, and says what is left out; people have the whole', async () => {
    const { server, options } = await served([COUNT, { text: ['Many.'] }]);
    const { client, uri } = await runTurn(await startHost(options));
    const heard = lastResult(server);
    expect(heard.length).toBeLessThanOrEqual(MODEL_OUTPUT_MAX_CHARACTERS);
    expect(heard.length).toBeGreaterThan(MODEL_OUTPUT_MAX_CHARACTERS * 0.9);
    expect(heard).toMatch(/^output line 1\noutput line 2\n/);
    expect(heard).toMatch(new RegExp(`output line ${LINES}$`));
    expect(heard).toMatch(/\[… 1\d,?\d{3} lines left out here, lines \d+ to \d+ of 13000\. Read them with read_file/);

    const [call] = callsIn((await stateOf(client, uri)).turns[0]?.responseParts);
    const kept = call?.status === 'completed' ? call.content?.find(({ type }) => type === 'resource') : undefined;
    const { data, encoding } = await client.request<{ data: string; encoding: string }>('resourceRead', {
      channel: 'ahp-root://',
      uri: kept?.type === 'resource' ? kept.uri : '',
    });
    expect(encoding === 'base64' ? Buffer.from(data, 'base64').toString() : data).toBe(OUTPUT);
  });

  it('[REL-059] can be read on by the model in the way that it is told', async () => {
    const { server, options } = await served([COUNT, { text: ['Many.'] }]);
    const host = await startHost(options);
    const { uri } = await runTurn(host);
    const advised = adviceIn(lastResult(server));
    server.answer({ calls: [{ name: 'read_file', input: advised }] }, { text: ['Done.'] });
    await runTurn(host, uri, 't2');
    const read = lastResult(server);
    expect(read.split('\n')[0]).toBe(`output line ${advised.startLine}`);
    expect(read.split('\n').at(-1)).toBe(`output line ${advised.endLine}`);
    expect(advised.endLine - advised.startLine).toBeGreaterThan(500);
    expect(read).not.toContain('left out');
  });

  it('[REL-059] is cut in the same way when the session is taken up by another host, and can be read there', async () => {
    const dataDir = dataFolder();
    const first = await served([COUNT, { text: ['Many.'] }], { log: await openLog(dataDir) });
    const host = await startTestHost(first.options);
    const { uri } = await runTurn(host);
    const cut = lastResult(first.server);
    await host.stop();

    const reading = { calls: [{ name: 'read_file', input: adviceIn(cut) }] };
    const again = await served([reading, { text: ['Read.'] }], {
      log: await openLog(dataDir),
      dataFolder: first.options.dataFolder,
    });
    await runTurn(await startHost(again.options), uri, 't2');
    expect(lastResult(again.server, 0)).toBe(cut);
    expect(lastResult(again.server, 1)).toMatch(new RegExp(`^output line ${adviceIn(cut).startLine}\n`));
  });

  it('[REL-059] is one of many in a turn: all together fit into the window', async () => {
    const many = { calls: Array.from({ length: 12 }, () => ({ name: 'count', input: {} })) };
    const { server, options } = await served([many, many, { text: ['Many.'] }]);
    await runTurn(await startHost(options));
    const sizes = server.requests.map(({ body }) => JSON.stringify(body).length);
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThan(WINDOW * 4);
    expect(lastResult(server)).toContain('left out');
  });

  it('[REL-059] is as long as the host is configured for', async () => {
    const { server, options } = await served([COUNT, { text: ['Many.'] }], { toolOutputMaxCharacters: 5_000 });
    await runTurn(await startHost(options));
    expect(lastResult(server).length).toBeLessThanOrEqual(5_000);
  });

  it('[REL-059] of a tool beside which there is no read_file advises to ask for less', async () => {
    const { server, options } = await served([COUNT, { text: ['Many.'] }]);
    const tools = options.tools.filter(({ definition }) => definition.name !== 'read_file');
    await runTurn(await startHost({ ...options, tools }));
    expect(lastResult(server)).toContain('Call the tool again, asking for less');
    expect(lastResult(server)).not.toContain('read_file');
  });
});

describe('other agents', () => {
  it('[REL-059] get results of the host cut in the same way, in a turn and from history', async () => {
    const tools = [...builtinTools(), echoTool('count', { work: () => OUTPUT })];
    const { puppet, agent, client, uri } = await openPuppetFixture({ tools });
    const outcome = await puppet.turn.callTool({ name: 'count', input: {} });
    const [block] = mcpResult(outcome).content;
    const text = block?.type === 'text' ? block.text : '';
    expect(text.length).toBeLessThanOrEqual(MODEL_OUTPUT_MAX_CHARACTERS);
    const { path, startLine, endLine } = adviceIn(text);
    const read = await puppet.turn.callTool({ name: 'read_file', input: { path, startLine, endLine } });
    expect(read).toMatchObject({
      success: true,
      text: expect.stringMatching(new RegExp(`^output line ${startLine}\n`)),
    });
    const unknown = await puppet.turn.callTool({ name: 'read_file', input: { path: 'tool-result:nobody' } });
    expect(unknown).toMatchObject({ success: false, text: expect.stringContaining('no such result') });
    puppet.finish();
    await client.action(uri, ({ type }) => type === 'session/turnComplete');
    const [turn] = await agent.history(1);
    const [call] = callsIn(turn?.responseParts);
    expect(call).toMatchObject({ toolName: 'count', content: [{ type: 'text', text }] });
  });
});

describe('where a text is cut', () => {
  const cut = (text: string, maxCharacters = MODEL_OUTPUT_MIN_CHARACTERS) =>
    cutForModel(text, { maxCharacters, readable: 'c1' });

  it('[REL-059] is nowhere, at the limit; one character more is', () => {
    expect(cut('x'.repeat(MODEL_OUTPUT_MIN_CHARACTERS))).toHaveLength(MODEL_OUTPUT_MIN_CHARACTERS);
    expect(cut('x'.repeat(MODEL_OUTPUT_MIN_CHARACTERS + 1))).toMatch(/^x+\n\[… \d+ lines left out.*\]\nx+$/);
  });

  it('[REL-059] is never inside of a character, and one long line is many', () => {
    for (const offset of [0, 1]) {
      const text = 'a'.repeat(offset) + '😀'.repeat(RESULT_LINE_MAX_CHARACTERS * 20);
      const short = cut(text, 10_000);
      expect(short).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
      expect(short.length).toBeLessThanOrEqual(10_000);
      expect(short).toMatch(/lines \d+ to \d+ of 4\d\./);
      expect(short.startsWith(`${'a'.repeat(offset)}😀`)).toBe(true);
      expect(short.endsWith('😀')).toBe(true);
    }
  });
});
