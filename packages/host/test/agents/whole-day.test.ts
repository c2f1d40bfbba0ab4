/**
 * A day with a model, in one conversation: a picture, instructions of folders, calls side by side, an edit, a busy server, a
 * summary, going back, and a restart. What the model's server got is asserted request by request.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  ATTACH_METHOD,
  type AttachResult,
  type ChatState,
  compactionIn,
  INSTRUCTIONS_METHOD,
  REWIND_METHOD,
  REWIND_PREVIEW_METHOD,
  type RewindPreview,
  UNDO_REWIND_METHOD,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { repository } from '../support/changes-fixture.js';
import { KeptLog } from '../support/logs.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { nativeClient, nativeSession } from '../support/native-client.js';
import { tempFolder } from '../support/temp-folder.js';
import { type RawClient, ROOT, startTestHost } from '../support/test-host.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const usage = (input: number, output: number, cached = 0) => ({ usage: { input, output, cached } });

interface Body {
  readonly system?: readonly { readonly text: string; readonly cache_control?: object }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Record<string, unknown>[] }[];
}

async function openDay() {
  const server = await ModelServer.start();
  onTestFinished(() => server.stop());
  const models = [{ id: 'm-1', name: 'M 1', supportsVision: true }];
  const agent = modelAgent({
    provider: 'm',
    displayName: 'M',
    kind: 'anthropic',
    models,
    retries: 1,
    baseURL: server.url,
  });
  const folder = await repository({
    'AGENTS.md': 'Always say please.',
    'sum.js': 'export const sum = (a, b) => a - b;\n',
    'sum.test.js': 'sum(1, 2) is 3\n',
    'pkg/AGENTS.md': 'In pkg, use tabs.',
    'pkg/a.js': 'a\n',
  });
  const [log, dataFolder] = [new KeptLog(), await tempFolder()];
  const tools = builtinTools().map((tool) => ({ ...tool, confirmation: () => undefined }));
  const start = async () => {
    const host = await startTestHost({ scripts: [], agents: [agent], log, dataFolder, tools, terminals: false });
    onTestFinished(() => host.stop());
    return host;
  };
  const host = await start();
  const client = await nativeClient(host, 'desk');
  const workingDirectories = [pathToFileURL(folder).href];
  const { uri, chat } = await nativeSession(client, { provider: 'm', workingDirectories });
  const restart = async () => {
    await host.stop();
    const again = await nativeClient(await start(), 'phone');
    await again.request('subscribe', { channel: chat });
    return again;
  };
  const bodyAt = (index: number) => server.requests.at(index)?.body as unknown as Body;
  return { server, client, folder, uri, chat, restart, bodyAt };
}

type Day = Awaited<ReturnType<typeof openDay>>;

async function say(
  day: Day,
  client: RawClient,
  id: string,
  text: string,
  answers: ServedAnswer[],
  attached: object[] = [],
) {
  day.server.answer(...answers);
  const message = { text, origin: { kind: 'user' }, ...(attached.length > 0 && { attachments: attached }) };
  client.dispatch(day.chat, { type: 'chat/turnStarted', turnId: id, message } as { type: string });
  await client.action(day.chat, ({ type, ...more }) => type === 'chat/turnComplete' && more.turnId === id);
}

const systemOf = ({ system = [] }: Body) => system.map(({ text }) => text).join('\n');
const typesOf = ({ messages }: Body) => messages.map(({ role, content }) => [role, ...content.map(({ type }) => type)]);
const marksIn = (body: Body) => JSON.stringify(body).split('"cache_control"').length - 1;

describe('a whole day with a model', { timeout: 60_000 }, () => {
  it('[DAY-011] [DAY-060] [DAY-062] [DAY-082] [DAY-083] [DAY-084] is the conversation that its server gets', async () => {
    const day = await openDay();
    const { server, client, folder, uri, chat, bodyAt } = day;
    const file = (name: string) => readFile(path.join(folder, name), 'utf8');

    // A picture goes as a picture. The prompt has the instructions of the project, and is marked for the cache.
    const attach = { channel: ROOT, name: 'bug.png', at: 0, text: PIXEL, isLast: true };
    const { attachment } = await client.request<AttachResult>(ATTACH_METHOD, attach);
    await say(
      day,
      client,
      't1',
      'What is wrong here?',
      [{ text: ['The sum is wrong.'], ...usage(900, 10) }],
      [attachment],
    );
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
    expect(bodyAt(0).messages[0]?.content[1]).toMatchObject(picture);
    expect(systemOf(bodyAt(0))).toContain('Always say please.');
    expect(systemOf(bodyAt(0))).not.toContain('use tabs');
    expect(bodyAt(0).system?.at(-1)?.cache_control).toEqual({ type: 'ephemeral' });

    // Two calls that only read run side by side, and their results keep their order; then an edit.
    const reads = ['sum.js', 'sum.test.js'].map((name, at) => ({
      id: `r${at}`,
      name: 'read_file',
      input: { path: name },
    }));
    const edit = { path: 'sum.js', oldText: 'a - b', newText: 'a + b' };
    await say(day, client, 't2', 'Fix it.', [
      { calls: reads, ...usage(950, 20, 900) },
      { calls: [{ id: 'e0', name: 'edit_file', input: edit }], ...usage(1_000, 20, 950) },
      { text: ['Fixed.'], ...usage(1_100, 5, 1_000) },
    ]);
    const answered = bodyAt(2)
      .messages.at(-1)
      ?.content.map(({ tool_use_id }) => tool_use_id);
    expect(answered).toEqual(['r0', 'r1']);
    expect(typesOf(bodyAt(3)).slice(-4)).toEqual([
      ...[
        ['assistant', 'tool_use', 'tool_use'],
        ['user', 'tool_result', 'tool_result'],
      ],
      ...[
        ['assistant', 'tool_use'],
        ['user', 'tool_result'],
      ],
    ]);
    expect(await file('sum.js')).toContain('a + b');
    // What was sent once is sent again byte for byte, so that the cache counts.
    const first = (index: number) =>
      JSON.stringify(bodyAt(index).messages[0]).replaceAll(/,"cache_control":\{[^}]*\}/g, '');
    expect([first(1), first(3)]).toEqual([first(0), first(0)]);
    expect([marksIn(bodyAt(0)), marksIn(bodyAt(3))]).toEqual([2, 3]);

    // A busy server: the same request once more, and both count.
    await say(day, client, 't3', 'And pkg?', [
      { status: 429, message: 'slow down', headers: { 'retry-after': '0' } },
      { calls: [{ id: 'p0', name: 'read_file', input: { path: 'pkg/a.js' } }], ...usage(1_200, 9) },
      { text: ['It is fine.'], ...usage(1_300, 9) },
    ]);
    expect(bodyAt(5)).toEqual(bodyAt(4));
    // The agent has been in pkg: its instructions are read from now on, and people see which files those are.
    expect(systemOf(bodyAt(5))).not.toContain('use tabs');
    expect(systemOf(bodyAt(6))).toContain('In pkg, use tabs.');
    const listed = await client.request<{ items: object[] }>(INSTRUCTIONS_METHOD, { channel: chat });
    expect(listed.items).toEqual([
      { uri: pathToFileURL(path.join(folder, 'AGENTS.md')).href, name: 'AGENTS.md', bytes: 18 },
      { uri: pathToFileURL(path.join(folder, 'pkg/AGENTS.md')).href, name: 'pkg/AGENTS.md', bytes: 17, isNested: true },
    ]);
    const told = await client.request<{ total: { requests: number } }>('atrium/usage', { session: uri, by: 'model' });
    expect(told.total).toMatchObject({ requests: 7, cacheRead: 2_850 });

    // A summary: asked for without tools; then it stands for the older turns, and the picture is not sent any more.
    await say(day, client, 'c1', '/compact the sum', [{ text: ['- sum.js was fixed'], ...usage(1_400, 30) }]);
    expect(bodyAt(7)).not.toHaveProperty('tools');
    expect(server.heard(7)).toMatch(/keep this above all: the sum[\s\S]*Person: What is wrong here\?/);
    await say(day, client, 't4', 'What is left?', [{ text: ['Nothing.'], ...usage(500, 5) }]);
    expect(server.heard(8)).toContain('- sum.js was fixed');
    expect(server.heard(8)).not.toContain('What is wrong here');
    expect(JSON.stringify(bodyAt(8))).not.toContain(PIXEL);
    const { turns } = await client.state<ChatState>(chat);
    expect(
      turns.flatMap(({ responseParts }) => responseParts.flatMap((part) => compactionIn(part) ?? [])),
    ).toHaveLength(1);

    // Going back to "Fix it.": the file is as before, the summary is gone with its turn, and the model sees the picture again.
    const place = { channel: chat, turnId: 't2' };
    const preview = await client.request<RewindPreview>(REWIND_PREVIEW_METHOD, place);
    expect([preview.turns, preview.files.map(({ does }) => does)]).toEqual([4, ['change']]);
    await client.request(REWIND_METHOD, { ...place, what: 'both', plan: preview.plan });
    expect(await file('sum.js')).toContain('a - b');
    await client.request(UNDO_REWIND_METHOD, { channel: uri });
    expect(await file('sum.js')).toContain('a + b');
    await client.request(REWIND_METHOD, { ...place, what: 'both' });
    const phone = await day.restart();
    await say(day, phone, 't5', 'Do it otherwise.', [{ text: ['As you like.'], ...usage(950, 5) }]);
    expect(typesOf(bodyAt(9))).toEqual([
      ['user', 'text', 'image'],
      ['assistant', 'text'],
      ['user', 'text'],
    ]);
    expect(server.heard(9)).not.toMatch(/Fix it\.|sum\.js was fixed|And pkg/);
    expect(first(9)).toBe(first(0));
    expect(systemOf(bodyAt(9))).not.toContain('use tabs');
    expect(server.requests).toHaveLength(10);
  });
});
