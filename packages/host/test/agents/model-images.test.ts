/** Images that tools give back: models that can see do, the others are told of them. */

import type { ModelMessage } from '@ai-sdk/provider-utils';
import type { ToolOutcome } from '@atrium/core/contracts/agent.js';
import type { ToolResultContent, Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ModelApi, modelAgent } from '../../../agents/src/model/backend.js';
import { fit } from '../../../agents/src/model/context-window.js';
import {
  type Conversation,
  IMAGES_KEPT_MAX,
  IMAGES_KEPT_MAX_CHARACTERS,
  messagesOf,
  outputText,
  successOutput,
  withNewestImages,
} from '../../../agents/src/model/conversation.js';
import { tokensIn } from '../../../agents/src/model/tokens.js';
import { IMAGE_MAX_BYTES, IMAGES_MAX_PER_MESSAGE } from '../../../agents/src/shared/messages.js';
import { mcpResult } from '../../../agents/src/shared/tool-results.js';
import { FakeTurn, messageOf, openSession, runTurn } from '../support/fake-turn.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SHOT: ToolResultContent = { type: 'embeddedResource', contentType: 'image/png', data: PIXEL };
const LOOK: ServedAnswer = { calls: [{ id: 'c1', name: 'look', input: {} }] };
const DONE: ServedAnswer = { text: ['A pixel.'] };
const KINDS: readonly ModelApi[] = ['openai-compatible', 'openai', 'anthropic'];

const gave = (text: string, content: ToolResultContent[], success = true): ToolOutcome => {
  return { kind: 'completed', success, text, content };
};

async function start(answers: ServedAnswer[], kind: ModelApi, supportsVision: boolean) {
  const server = await ModelServer.start(...answers);
  onTestFinished(() => server.stop());
  const models = [{ id: 'm-1', name: 'M 1', supportsVision }];
  const agent = modelAgent({ provider: 'm', displayName: 'M', kind, models, retries: 0, baseURL: server.url });
  return { server, agent };
}

function looking(outcome: ToolOutcome): FakeTurn {
  const tools = [{ name: 'look', inputSchema: { type: 'object' as const } }];
  return new FakeTurn('look', { tools, callTool: () => outcome });
}

/** What kind of block each image of a request is, and in whose words. */
function places(body: unknown, role = '', type = ''): string[] {
  if (typeof body === 'string') return body.includes(PIXEL) ? [`${role} ${type}`] : [];
  if (Array.isArray(body)) return body.flatMap((item) => places(item, role, type));
  if (typeof body !== 'object' || body === null) return [];
  const own = body as { role?: string; type?: string };
  const inner = own.type === 'base64' ? type : (own.type ?? type);
  return Object.values(body).flatMap((value) => places(value, own.role ?? role, inner));
}

describe('an image in the result of a tool', () => {
  it.each<[ModelApi, string[]]>([
    // Chat completions know images only in the words of a person; there is nothing of it in the tool's own.
    ['openai-compatible', ['user image_url']],
    ['openai', [' input_image']],
    ['anthropic', ['user image']],
  ])('is seen by a model that can see (%s)', async (kind, where) => {
    const { server, agent } = await start([LOOK, DONE], kind, true);
    await runTurn(agent, looking(gave('the screen', [{ type: 'text', text: 'the screen' }, SHOT])));
    expect(places(server.requests.at(-1)?.body)).toEqual(where);
    expect(server.heard()).toContain('the screen');
  });

  it.each(KINDS)('is only told of to one that is not known to (%s)', async (kind) => {
    const { server, agent } = await start([LOOK, DONE], kind, false);
    await runTurn(agent, looking(gave('', [SHOT])));
    expect(server.heard()).not.toContain(PIXEL);
    expect(server.heard()).toContain('[image/png, which you cannot see]');
  });

  it('of a call that failed stays behind, and the failure stays a failure', async () => {
    const { server, agent } = await start([LOOK, DONE], 'anthropic', true);
    await runTurn(agent, looking(gave('no screen', [SHOT], false)));
    expect(places(server.requests.at(-1)?.body)).toEqual([]);
    expect(server.heard()).toContain('no screen');
  });

  it('is there again after a restart', async () => {
    const { server, agent } = await start([DONE], 'anthropic', true);
    const call = { toolCallId: 'c1', toolName: 'look', displayName: 'Look', invocationMessage: 'Look' };
    const done = { status: 'completed' as const, success: true, confirmed: 'not-needed' as const };
    const turn: Turn = {
      ...{ id: 't0', message: messageOf('look'), usage: undefined, state: 'complete' },
      responseParts: [
        { kind: 'toolCall', toolCall: { ...call, ...done, pastTenseMessage: 'Looked', content: [SHOT] } },
      ],
    };
    const session = await agent.open({
      ...{
        session: 'ahp-session:/1',
        chat: 'ahp-chat:/1',
        workingDirectory: undefined,
        signal: new AbortController().signal,
      },
      history: async () => [turn],
      memory: { get: () => undefined, set: () => {} },
    });
    await session.runTurn(new FakeTurn('again?', { id: 't1' }));
    expect(places(server.requests.at(-1)?.body)).toEqual(['user image']);
  });

  it('is not sent beyond a size and a number, and neither is what is no image; each is named', () => {
    const large = { ...SHOT, data: 'A'.repeat(Math.ceil((IMAGE_MAX_BYTES * 4) / 3) + 8) };
    const sound: ToolResultContent = { type: 'embeddedResource', contentType: 'audio/wav', data: 'AAAA' };
    const many = Array.from({ length: IMAGES_MAX_PER_MESSAGE + 1 }, () => SHOT);
    expect(successOutput('x', [large, sound])).toEqual({
      type: 'text',
      value:
        'x\n[image/png of 3.8 MiB, which cannot be shown to you]\n[audio/wav of 3 bytes, which cannot be shown to you]',
    });
    const output = successOutput('', many);
    expect(output.type === 'content' && output.value).toHaveLength(IMAGES_MAX_PER_MESSAGE + 1);
    expect(outputText(output).split('which was left out')).toHaveLength(IMAGES_MAX_PER_MESSAGE + 1);
  });

  it('goes to agents with tools of their own as an image too', () => {
    expect(mcpResult(gave('', [SHOT]))).toEqual({
      content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }],
      isError: false,
    });
    expect(mcpResult(gave('', []))).toEqual({ content: [{ type: 'text', text: '' }], isError: false });
  });
});

describe('images in what a model remembers', () => {
  const withShot = (index: number, data = PIXEL): readonly ModelMessage[] => {
    const call = { toolCallId: `c${index}`, toolName: 'look' };
    const output = successOutput(`look ${index}`, [{ ...SHOT, data }]);
    return [
      { role: 'user', content: `question ${index}` },
      { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
      { role: 'tool', content: [{ type: 'tool-result', ...call, output }] },
    ];
  };
  const conversation = (count: number, data?: string): Conversation => ({
    leftOut: [],
    exchanges: Array.from({ length: count }, (_, index) => ({ turnId: `t${index}`, messages: withShot(index, data) })),
  });
  const imagesIn = (value: unknown) => JSON.stringify(value).split('image-data').length - 1;

  it('count by the piece, not by their bytes', () => {
    expect(tokensIn(withShot(1, 'A'.repeat(10 ** 6)))).toBeLessThan(2_000);
  });

  it('are the newest ones; what came before is left as words', () => {
    const kept = withNewestImages(conversation(IMAGES_KEPT_MAX + 3));
    expect(imagesIn(kept)).toBe(IMAGES_KEPT_MAX);
    expect(JSON.stringify(kept.exchanges[2])).toContain('look 2\\n[image/png, which was left out]');
    expect(imagesIn(kept.exchanges[3])).toBe(1);
    const few = conversation(IMAGES_KEPT_MAX);
    expect(withNewestImages(few)).toBe(few);
  });

  it('are bounded by their size as well, attached ones included', () => {
    const sixth = 'A'.repeat(IMAGES_KEPT_MAX_CHARACTERS / 6);
    const tools = withNewestImages(conversation(8, sixth));
    expect(imagesIn(tools)).toBe(6);
    const attached: ModelMessage = {
      role: 'user',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', image: sixth, mediaType: 'image/png' },
      ],
    };
    const older = { turnId: 'old', messages: [attached] };
    const both = withNewestImages({ leftOut: [], exchanges: [older, ...conversation(6, sixth).exchanges] });
    expect(both.exchanges[0]?.messages[0]?.content).toContain('see\n[Images that came with this were left out');
  });

  it('go before turns do when room is needed', () => {
    const whole = conversation(6);
    const { conversation: fitted, shortened, dropped } = fit(whole, tokensIn(whole) - 100);
    expect([shortened, dropped.length, imagesIn(fitted)]).toEqual([1, 0, 5]);
  });

  it('follow their results where those cannot hold them, before what the person says next', async () => {
    const exchanges = [
      { turnId: 't1', messages: withShot(1) },
      { turnId: 't2', messages: [{ role: 'user' as const, content: 'and now?' }] },
    ];
    const messages = messagesOf({ leftOut: [], exchanges }, 'beside');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(JSON.stringify(messages.at(2))).toContain('which follows in the next message');
    expect(messages.at(-1)?.content).toMatchObject([
      { type: 'text', text: expect.stringContaining('data') },
      { type: 'image', image: PIXEL },
      { type: 'text', text: 'and now?' },
    ]);
  });

  it('are sent to a model that is chosen later and can see', async () => {
    const server = await ModelServer.start(LOOK, DONE, DONE);
    onTestFinished(() => server.stop());
    const models = [
      { id: 'blind', name: 'Blind' },
      { id: 'seeing', name: 'Seeing', supportsVision: true },
    ];
    const options = { provider: 'm', displayName: 'M', kind: 'anthropic', retries: 0 } as const;
    const session = await openSession(modelAgent({ ...options, models, baseURL: server.url }));
    await session.runTurn(looking(gave('', [SHOT])));
    expect(places(server.requests.at(-1)?.body)).toEqual([]);
    await session.runTurn(Object.assign(new FakeTurn('again', { id: 't2' }), { model: { id: 'seeing' } }));
    expect(places(server.requests.at(-1)?.body)).toEqual(['user image']);
  });
});
