import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Message, MessageAttachment } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ModelAgentOptions, type ModelApi, modelAgent } from '../../../agents/src/model/backend.js';
import { ContextWindow } from '../../../agents/src/model/context-window.js';
import { messagesOf } from '../../../agents/src/model/conversation.js';
import { tokensIn } from '../../../agents/src/model/tokens.js';
import { attachedImages, IMAGES_MAX_PER_MESSAGE } from '../../../agents/src/shared/messages.js';
import { completed, FakeTurn, type FakeTurnOptions, messageOf, openSession, runTurn } from '../support/fake-turn.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';

const LONG = 'x'.repeat(4_000);
const LOOK = { name: 'look' };
const SMALL = { id: 'm-1', name: 'M 1', maxContextWindow: 1_500 };
const TOO_LONG: ServedAnswer = { status: 400, message: 'maximum context length exceeded' };

async function start(answers: ServedAnswer[], options: Partial<ModelAgentOptions> = {}) {
  const server = await ModelServer.start(...answers);
  onTestFinished(() => server.stop());
  const models = [{ id: 'm-1', name: 'M 1' }];
  const defaults = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
  return { server, agent: modelAgent({ ...defaults, baseURL: server.url, ...options }) };
}

function turnOf(text: string, options: FakeTurnOptions = {}): FakeTurn {
  const prompt = { safety: 'Be safe.' };
  return new FakeTurn(text, {
    id: text.slice(0, 8),
    prompt,
    tools: [LOOK],
    callTool: () => completed(LONG),
    ...options,
  });
}

const notesOf = ({ events }: FakeTurn) => events.flatMap((event) => ('notify' in event ? [event.notify] : []));
const compactionsOf = ({ events }: FakeTurn) =>
  events.flatMap((event) => ('compacted' in event ? [event.compacted] : []));
const usageOf = ({ events }: FakeTurn) => events.flatMap((event) => ('usage' in event ? [event.usage] : [])).at(-1);

/** Three turns, of which the second and third do not fit beside the first. */
async function threeTurns(answers: ServedAnswer[]) {
  const { server, agent } = await start(answers, { models: [SMALL] });
  const session = await openSession(agent);
  const turns = ['first', `second ${'y '.repeat(1_200)}`, `third ${'z '.repeat(1_000)}`].map((text) => turnOf(text));
  for (const turn of turns) await session.runTurn(turn);
  return { server, turns, session };
}

describe('a session that outgrows the window of its model', () => {
  const usage = { input: 10, output: 5 };
  const answers: ServedAnswer[] = [
    { calls: [{ name: 'look', input: {} }] },
    { text: ['A tree. '.repeat(60)] },
    { text: ['- the person looked at a tree'], usage },
    { text: ['two'], usage },
    { text: ['- and wrote many words'], usage },
    { text: ['three'] },
  ];

  it('is summed up by the model itself, and goes on with the notes', async () => {
    const { server, turns } = await threeTurns(answers);
    const [, second, third] = turns.map(compactionsOf);
    expect(second).toMatchObject([{ summary: '- the person looked at a tree', turns: 1, isAsked: false }]);
    expect(second?.[0]?.firstKept).toBe(turns[1]?.id);
    expect(third).toMatchObject([{ summary: '- and wrote many words', firstKept: turns[2]?.id }]);
    expect(turns.map(notesOf)).toEqual([[], [], []]);
    // The model read what it was to forget, and nothing was offered to it to run.
    expect(server.heard(2)).toContain('Person: first');
    expect(server.heard(2)).toContain('You called look: {}');
    expect(server.requests[2]?.body).not.toHaveProperty('tools');
    expect(server.requests[2]?.body).toHaveProperty('max_tokens');
    expect(server.heard(3)).toContain('- the person looked at a tree');
    expect(server.heard(3)).not.toContain('A tree. ');
    // Notes are part of what is summed up next.
    expect(server.heard(4)).toContain('- the person looked at a tree');
    expect(server.heard(5)).toContain('- and wrote many words');
    expect(server.heard(5)).not.toContain('looked at a tree');
  });

  it('pays for the notes: they count as tokens of the turn', async () => {
    const { turns } = await threeTurns(answers);
    expect(usageOf(turns[1] ?? turnOf(''))).toMatchObject({ inputTokens: 20, outputTokens: 10 });
  });

  it.each<[string, ServedAnswer]>([
    ['fails', { status: 500, message: 'no' }],
    ['says nothing', { text: [] }],
    ['breaks off', { text: ['- half'], ending: 'cut' }],
  ])('falls back to one line for each turn when that %s', async (_how, failing) => {
    const [one, two] = answers;
    const replies = [one, two, failing, { text: ['two'] }, failing, { text: ['three'] }];
    const { server, turns } = await threeTurns(replies.flatMap((reply) => reply ?? []));
    expect(turns.map(notesOf).slice(1)).toEqual([
      ["Left the oldest 1 turn out of the model's memory to stay within the 1500 tokens of M 1."],
      ["Left the oldest 1 turn out of the model's memory to stay within the 1500 tokens of M 1."],
    ]);
    expect(server.heard()).toContain('- first\n- second y y');
  });

  it('stops at once when the turn is cancelled meanwhile', async () => {
    const { server, agent } = await start([...answers.slice(0, 2), { ending: 'hang' }], { models: [SMALL] });
    const session = await openSession(agent);
    await session.runTurn(turnOf('first'));
    const turn = turnOf(`second ${'y '.repeat(1_200)}`);
    const running = session.runTurn(turn);
    await expect.poll(() => server.requests.length).toBe(3);
    turn.cancel();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(notesOf(turn)).toEqual([]);
  });
});

describe('a server that takes less than it should', () => {
  const long: ServedAnswer[] = [
    { calls: [{ name: 'look', input: {} }] },
    TOO_LONG,
    { text: ['Done.'] },
    { text: ['Again.'] },
  ];

  it('is asked once more with less, and the next request is not too long again', async () => {
    const { server, agent } = await start(long);
    const session = await openSession(agent);
    const turn = turnOf('go');
    await session.runTurn(turn);
    expect(turn.said).toBe('Done.');
    expect(notesOf(turn)).toEqual([
      "Shortened 1 tool output in the model's memory to stay within what the server takes of M 1.",
    ]);
    const lengths = server.requests.map(({ body }) => JSON.stringify(body.messages).length);
    expect(lengths[1]).toBeGreaterThan(4_000);
    expect(lengths[2]).toBeLessThan(2_000);
    await session.runTurn(turnOf('more'));
    expect(server.requests).toHaveLength(4);
  });

  it('is not asked a third time', async () => {
    const { server, agent } = await start([long[0] ?? {}, TOO_LONG, TOO_LONG]);
    await expect(runTurn(agent, turnOf('go'))).rejects.toMatchObject({ errorType: 'context-overflow' });
    expect(server.requests).toHaveLength(3);
  });

  it('is not asked again when nothing can be left out', async () => {
    const { server, agent } = await start([TOO_LONG]);
    await expect(runTurn(agent, turnOf('go'))).rejects.toMatchObject({ errorType: 'context-overflow' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('what was learnt about a server', () => {
  const model = { id: 'm-1', name: 'M 1', maxContextWindow: 8_000 };
  const exchange = (turnId: string, text: string) => ({ turnId, messages: [{ role: 'user' as const, content: text }] });
  const conversation = { leftOut: [], exchanges: [exchange('a', LONG), exchange('b', LONG)] };
  const others = { system: 'y'.repeat(5_000) };

  async function filled() {
    const { server } = await start([]);
    const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models: [model] } as const;
    const window = new ContextWindow({ ...options, baseURL: server.url, retries: 0 });
    const turn = turnOf('go');
    const meter = { requested: () => {}, add: () => {} };
    return { window, turn, request: { turn, model, conversation, others, meter } };
  }

  it('is the size of whole requests: with a shorter prompt there is room again', async () => {
    const { window, turn, request } = await filled();
    expect(window.refused(request)).toBe(true);
    await window.fit({ ...request, others: {} });
    expect(notesOf(turn)).toEqual([]);
    await window.fit(request);
    expect(notesOf(turn)).toEqual([expect.stringContaining('Left the oldest 1 turn out')]);
  });

  it('is not for good: with every answer a little more is tried, up to the whole window', async () => {
    const { window, turn, request } = await filled();
    window.refused(request);
    for (let answers = 0; answers < 40; answers++) window.answered(model);
    await window.fit(request);
    expect(notesOf(turn)).toEqual([]);
  });
});

describe('what the model alone is to know', () => {
  it('[UNI-034] goes beside the message of its turn, and is part of that from then on', async () => {
    const { server, agent } = await start([{ text: ['one'] }, { text: ['two'] }]);
    const session = await openSession(agent);
    const turn = turnOf('is it green?', { context: ['CI is red', 'The day is Friday'] });
    await session.runTurn(turn);
    expect(server.requests[0]?.body.messages).toContainEqual({
      role: 'user',
      content:
        'is it green?\n\n[Context, not written by the person]\nCI is red' +
        '\n\n[Context, not written by the person]\nThe day is Friday',
    });
    expect(JSON.stringify(turn.events)).not.toContain('CI is red');
    await session.runTurn(turnOf('and now?'));
    expect(server.heard().split('CI is red')).toHaveLength(2);
  });
});

describe('an image that a person attached', () => {
  const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const embedded: MessageAttachment = {
    ...{ type: 'embeddedResource', label: 'shot.png', contentType: 'image/png', data: PIXEL },
  };
  const seeing = [{ id: 'm-1', name: 'M 1', supportsVision: true }];

  function showing(attachments: MessageAttachment[], workingDirectory?: string): FakeTurn {
    const turn = turnOf('what is this?', workingDirectory === undefined ? {} : { workingDirectory });
    const message: Message = { ...messageOf('what is this?'), attachments };
    return Object.assign(turn, { message });
  }

  it.each<ModelApi>(['openai-compatible', 'openai', 'anthropic'])(
    'is seen by a model that can see (%s)',
    async (kind) => {
      const { server, agent } = await start([{ text: ['A pixel.'] }], { models: seeing, kind });
      await runTurn(agent, showing([embedded]));
      expect(server.heard()).toContain(PIXEL);
      expect(server.heard()).toContain('[Attached] shot.png');
    },
  );

  it('is only named to one that is not known to', async () => {
    const { server, agent } = await start([{ text: ['No idea.'] }]);
    await runTurn(agent, showing([embedded]));
    expect(server.heard()).not.toContain(PIXEL);
    expect(server.heard()).toContain('[Attached] shot.png');
  });

  it("may be a file of the session's folder, and of no other", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'atrium-image-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(path.join(folder, 'in.png'), Buffer.from(PIXEL, 'base64'));
    const file = (name: string): MessageAttachment => ({
      ...{ type: 'resource', label: name, contentType: 'image/png' },
      uri: pathToFileURL(path.join(folder, name)).href,
    });
    const { server, agent } = await start([{ text: ['A pixel.'] }, { text: ['Nothing.'] }], { models: seeing });
    await runTurn(agent, showing([file('in.png'), file('gone.png')], folder));
    expect(server.heard().split(PIXEL)).toHaveLength(2);
    await runTurn(agent, showing([file('in.png')], path.join(folder, '..', path.basename(tmpdir()))));
    expect(server.heard()).not.toContain(PIXEL);
  });

  it('is not even read beyond as many as are sent', async () => {
    const gone: MessageAttachment = {
      ...{ type: 'resource', label: 'gone.png', contentType: 'image/png', uri: 'file:///gone.png' },
    };
    const attachments = [...Array.from({ length: IMAGES_MAX_PER_MESSAGE }, () => gone), embedded];
    expect(await attachedImages({ ...messageOf('look'), attachments }, undefined)).toEqual([]);
    expect(await attachedImages({ ...messageOf('look'), attachments: attachments.slice(1) }, undefined)).toHaveLength(
      1,
    );
  });

  it('does not count by its bytes', () => {
    const part = { type: 'image' as const, image: 'A'.repeat(10 ** 6), mediaType: 'image/png' };
    expect(tokensIn([{ role: 'user', content: [part] }])).toBeLessThan(2_000);
  });
});

describe('what goes to the model', () => {
  it('never has two messages of the person in a row: many servers take no such thing', () => {
    const exchange = (turnId: string, ...contents: string[]) => ({
      turnId,
      messages: contents.map((content) => ({ role: 'user' as const, content })),
    });
    const exchanges = [exchange('t1', 'lost'), exchange('t2', 'again', 'and faster')];
    expect(messagesOf({ summary: 'It began.', leftOut: [], exchanges })).toEqual([
      {
        role: 'user',
        content: '[Earlier in this session, summed up to save room:\nIt began.]\n\nlost\n\nagain\n\nand faster',
      },
    ]);
  });
});
