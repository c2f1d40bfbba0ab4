/** A second opinion on calls that wait for a person: what it says, and that it decides nothing. */
import { JUDGEMENT_REASON_MAX_CHARACTERS, JUDGEMENT_TIMEOUT_MS } from '@atrium/core/tool-calls/limits.js';
import type { ChatState, ToolCallPendingConfirmationState } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { JUDGED_INPUT_MAX_CHARACTERS, judgementIn } from '../../../agents/src/model/side-requests.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { FakeClock } from '../support/fake-clock.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { chatState, nativeClient, nativeSession, sessionState, userMessage } from '../support/native-client.js';
import { startHost } from '../support/session-fixture.js';

const INPUT = { command: 'rm -rf build && echo "this is safe"' };

async function openScene(judgement: ServedAnswer | undefined, input: object = INPUT) {
  const first = { calls: [{ name: 'shell', input }] };
  const server = await ModelServer.start(first, ...(judgement ? [judgement] : []), { text: ['Done.'] });
  onTestFinished(() => server.stop());
  const clock = new FakeClock();
  const models = [{ id: 'm-1', name: 'M 1' }];
  const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
  const judge = judgement ? { judgeModel: 'judge-1' } : {};
  const agents = [modelAgent({ ...options, ...judge, baseURL: server.url })];
  const host = await startHost({ scripts: [], agents, tools: builtinTools(), clock });
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client, { provider: 'model' });
  const older = await host.client('older');
  await older.request('subscribe', { channel: uri });
  client.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', message: userMessage('clean') } as { type: string });
  const pending = async () => callIn(await chatState(client, chat));
  await expect.poll(async () => (await pending())?.status).toBe('pending-confirmation');
  const assessed = async () => {
    await expect.poll(async () => (await pending())?.riskAssessment?.status).toBe('complete');
    return (await pending())?.riskAssessment;
  };
  return { server, host, client, older, uri, chat, clock, pending, assessed };
}

function callIn({ activeTurn }: ChatState): ToolCallPendingConfirmationState | undefined {
  const calls = activeTurn?.responseParts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : [])) ?? [];
  return calls.at(-1) as ToolCallPendingConfirmationState | undefined;
}

const says = (value: unknown): ServedAnswer => ({ text: [typeof value === 'string' ? value : JSON.stringify(value)] });

describe('the assessment of a call', () => {
  it('[UP-120] stands beside the question, is about exactly what is shown, and leaves the decision to a person', async () => {
    const scene = await openScene(says({ safety: 0.25, reason: 'It deletes a folder.' }));
    expect(await scene.assessed()).toEqual({
      ...{ kind: 'judge', status: 'complete', safety: 0.25, reason: 'It deletes a folder.' },
    });
    const call = await scene.pending();
    expect(call).toMatchObject({ status: 'pending-confirmation', toolInput: JSON.stringify(INPUT), editable: true });
    expect(call?.options?.length).toBeGreaterThan(1);
    const readies = scene.client
      .envelopes(scene.chat)
      .map(({ action }) => action as { type: string; riskAssessment?: { status: string } })
      .filter(({ type }) => type === 'chat/toolCallReady');
    expect(readies.map(({ riskAssessment }) => riskAssessment?.status)).toEqual(['loading', 'complete']);
    const [, asked] = scene.server.requests;
    expect(asked?.body.model).toBe('judge-1');
    const sent = asked?.body.messages as { content: string }[] | undefined;
    expect(JSON.parse(sent?.[1]?.content ?? '')).toMatchObject({ tool: 'shell', input: call?.toolInput });
    const needed = (await sessionState(scene.client, scene.uri)).inputNeeded;
    expect(needed).toMatchObject([{ kind: 'toolConfirmation', toolCall: { riskAssessment: { status: 'complete' } } }]);
    // Older wires ask once, and know nothing of it.
    const types = scene.older.types(scene.uri).filter((type) => type === 'session/toolCallReady');
    expect(types).toHaveLength(1);
    expect(JSON.stringify(scene.older.received)).not.toContain('riskAssessment');
  });

  it('[DAY-040] counts for its session', async () => {
    const scene = await openScene({ ...says({ safety: 0.5, reason: 'So so.' }), usage: { input: 70, output: 9 } });
    await scene.assessed();
    const report = () =>
      scene.client.request<{ entries: object[] }>('atrium/usage', { session: scene.uri, by: 'model' });
    await expect
      .poll(async () => (await report()).entries)
      .toContainEqual(expect.objectContaining({ key: 'judge-1', input: 70, output: 9, requests: 1 }));
  });

  it('[UP-120] approves nothing, however safe it finds a call', async () => {
    const scene = await openScene(says({ safety: 1, reason: 'Harmless.' }));
    await scene.assessed();
    expect((await scene.pending())?.status).toBe('pending-confirmation');
    expect(scene.server.requests).toHaveLength(2);
  });

  it('[UP-120] says so when it could not be made, and changes nothing else', async () => {
    for (const answer of [says('I cannot say.'), says({ safety: 7, reason: 'x' }), { status: 500, message: 'no' }]) {
      const scene = await openScene(answer);
      expect(await scene.assessed()).toMatchObject({
        safety: 0,
        reason: expect.stringContaining('could not be assessed'),
      });
      const { toolCallId } = (await scene.pending()) ?? {};
      const approval = { type: 'chat/toolCallConfirmed', approved: false, reason: 'denied' };
      scene.client.dispatch(scene.chat, { ...approval, turnId: 't1', toolCallId } as { type: string });
      await scene.client.action(scene.chat, 'chat/turnComplete');
    }
  });

  it('[UP-120] is given up after a time, and when a person has answered', async () => {
    const slow = await openScene({ ending: 'hang' });
    await expect.poll(() => slow.server.requests.length).toBe(2);
    slow.clock.advance(JUDGEMENT_TIMEOUT_MS);
    expect(await slow.assessed()).toMatchObject({ safety: 0 });
    const quick = await openScene({ ending: 'hang' });
    await expect.poll(() => quick.server.requests.length).toBe(2);
    const { toolCallId } = (await quick.pending()) ?? {};
    const denial = { type: 'chat/toolCallConfirmed', approved: false, reason: 'denied', turnId: 't1', toolCallId };
    quick.client.dispatch(quick.chat, denial as { type: string });
    await expect.poll(() => quick.server.aborted).toBe(1);
  });

  it('[UP-120] is not made of half an input, and bounded in what it says', async () => {
    const command = `echo ${'x'.repeat(JUDGED_INPUT_MAX_CHARACTERS)}`;
    const long = await openScene(says({ safety: 1, reason: 'never asked' }), { command });
    expect(await long.assessed()).toMatchObject({ safety: 0 });
    expect(long.server.requests).toHaveLength(1);
    const wordy = await openScene(says({ safety: 0.5, reason: 'x'.repeat(5_000) }));
    const { reason } = (await wordy.assessed()) as { reason: string };
    expect(reason.length).toBeLessThanOrEqual(JUDGEMENT_REASON_MAX_CHARACTERS);
    expect(judgementIn('Sure:\n```json\n{"safety": 0.5, "reason": "r"}\n```')).toEqual({ safety: 0.5, reason: 'r' });
  });

  it('[UP-120] is not there unless it is configured', async () => {
    const scene = await openScene(undefined);
    expect(await scene.pending()).not.toHaveProperty('riskAssessment');
    expect(scene.server.requests).toHaveLength(1);
  });
});
