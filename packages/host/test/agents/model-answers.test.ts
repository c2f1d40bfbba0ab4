/** Answers that no model should give, and requests that have to wait: the turn ends well, and people see why. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ANSWER_MAX, CALLS_PER_STEP_MAX } from '../../../agents/src/model/answer.js';
import { type ModelApi, modelAgent } from '../../../agents/src/model/backend.js';
import { completed, FakeTurn, openSession } from '../support/fake-turn.js';
import { ModelServer, type ServedAnswer, type ServedCall } from '../support/model-server.js';

const KINDS: ModelApi[] = ['openai-compatible', 'openai', 'anthropic'];
const LOOK = { name: 'look', inputSchema: { type: 'object' as const } };
const DONE: ServedAnswer = { text: ['Done.'] };

interface Setting {
  readonly kind?: ModelApi;
  readonly retries?: number;
  readonly silence?: { readonly noticeMs: number; readonly maxMs: number };
}

async function start(answers: ServedAnswer[], { kind = 'openai-compatible', retries = 0, silence }: Setting = {}) {
  const server = await ModelServer.start(...answers);
  onTestFinished(() => server.stop());
  const models = [{ id: 'm-1', name: 'M 1', maxContextWindow: 10 ** 6 }];
  const place = { provider: 'model', displayName: 'Model', kind, models, baseURL: server.url };
  const agent = modelAgent({ ...place, retries, ...(silence && { silence }) });
  const session = await openSession(agent);
  const turn = new FakeTurn('go', { tools: [LOOK], callTool: () => completed('a tree') });
  return { server, session, turn };
}

const notesOf = ({ events }: FakeTurn) => events.flatMap((event) => ('notify' in event ? [event.notify] : []));
const activitiesOf = ({ events }: FakeTurn) => events.flatMap((event) => ('activity' in event ? [event.activity] : []));
const runsOf = ({ events }: FakeTurn) => events.filter((event) => 'callTool' in event).length;

function calls(count: number): ServedCall[] {
  return Array.from({ length: count }, (_, index) => ({ id: `id-${index}`, name: 'look', input: {} }));
}

/** As many pieces as are needed to get beyond a limit. */
function beyond(characters: number): string[] {
  const piece = 'x'.repeat(2 ** 16);
  return Array.from({ length: characters / piece.length + 1 }, () => piece);
}

describe('many calls in one answer', { timeout: 30_000 }, () => {
  it.each(KINDS)(
    'are run up to a limit; the model hears of the others, and people of their number (%s)',
    async (kind) => {
      const made = CALLS_PER_STEP_MAX + 3;
      const { server, session, turn } = await start([{ calls: calls(made) }, DONE], { kind });
      await session.runTurn(turn);
      expect(runsOf(turn)).toBe(CALLS_PER_STEP_MAX);
      expect(notesOf(turn)).toEqual([expect.stringContaining(`made ${made} calls at once`)]);
      expect(server.heard().split('Not run: at most').length - 1).toBe(3);
      expect(turn.said).toBe('Done.');
    },
  );
});

describe('an answer without an end', { timeout: 30_000 }, () => {
  it.each<[string, ServedAnswer]>([
    ['1 MiB of text', { text: beyond(ANSWER_MAX.text) }],
    ['1 MiB of thinking', { reasoning: beyond(ANSWER_MAX.reasoning) }],
    ['4 MiB of input for tools', { calls: [{ name: 'look', input: `{"at":"${beyond(ANSWER_MAX.input).join('')}` }] }],
    [`${ANSWER_MAX.calls} calls`, { calls: calls(ANSWER_MAX.calls + 1) }],
  ])('is broken off after %s, for people and for the model', async (limit, answer) => {
    const { server, session, turn } = await start([{ ...answer, ending: 'hang' }, DONE]);
    await session.runTurn(turn);
    const why = `The answer was broken off: it had more than ${limit}.`;
    expect(notesOf(turn)).toEqual([`${why} Send a message to let the model go on.`]);
    expect(runsOf(turn)).toBe(0);
    expect(turn.said.length).toBeLessThanOrEqual(ANSWER_MAX.text);
    await vi.waitFor(() => expect(server.aborted).toBe(1), 10_000);
    await session.runTurn(new FakeTurn('and now?', { id: 'turn-2' }));
    expect(server.heard()).toContain(`[${why}]`);
  });
});

describe('an answer without anything', () => {
  it.each(KINDS)('is told to people (%s)', async (kind) => {
    const { session, turn } = await start([{}], { kind });
    await session.runTurn(turn);
    expect(notesOf(turn)).toEqual(['The model ended without an answer. Send a message to try again.']);
  });

  it.each(KINDS)('but a call without a name is one that failed, for all to see (%s)', async (kind) => {
    const { session, turn } = await start([{ calls: [{ name: '', input: {} }] }, DONE], { kind });
    const failure = await session.runTurn(turn).then(
      () => turn.events.find((event) => 'failedCall' in event),
      (error: unknown) => error,
    );
    expect(failure).toBeDefined();
  });
});

describe('a request that has to be made again', () => {
  const busy: ServedAnswer = { status: 429, message: 'slow down', headers: { 'retry-after': '0.01' } };

  it('[DAY-083] shows what is waited for, until the answer comes', async () => {
    const { session, turn } = await start([busy, busy, DONE], { retries: 2 });
    await session.runTurn(turn);
    const waiting = 'Model answered 429; trying again in 1 s';
    // What is shown ends when the next attempt begins.
    expect(activitiesOf(turn)).toEqual([waiting, undefined, waiting, undefined]);
  });

  it.each(KINDS)('[DAY-083] is not made when the turn is cancelled in the pause (%s)', async (kind) => {
    const later = new Date(Date.now() + 50_000).toUTCString();
    const { server, session, turn } = await start([{ ...busy, headers: { 'retry-after': later } }, DONE], {
      kind,
      retries: 2,
    });
    const running = session.runTurn(turn);
    await vi.waitFor(
      () => expect(activitiesOf(turn)[0]).toMatch(/^Model answered 429; trying again in [45]\d s$/),
      10_000,
    );
    turn.cancel();
    await expect(running).rejects.toThrow();
    expect(server.requests).toHaveLength(1);
  });

  it('[DAY-083] is not made when the server asks for more than a minute', async () => {
    const { server, session, turn } = await start([{ ...busy, headers: { 'retry-after': '3600' } }, DONE], {
      retries: 2,
    });
    await expect(session.runTurn(turn)).rejects.toMatchObject({ errorType: 'rate-limited' });
    expect(server.requests).toHaveLength(1);
    expect(activitiesOf(turn)).toEqual([]);
  });

  it.each(KINDS)('[DAY-083] that gets no answer says so, and for how long (%s)', async (kind) => {
    const silence = { noticeMs: 1_000, maxMs: 60_000 };
    const { server, session, turn } = await start([{ ...DONE, delayMs: 2_500 }], { kind, silence });
    await session.runTurn(turn);
    expect(activitiesOf(turn)).toEqual(['Model has not answered for 1 s', 'Model has not answered for 2 s', undefined]);
    expect(server.requests).toHaveLength(1);
  });

  it.each(KINDS)('[DAY-083] is not made after minutes without a word (%s)', async (kind) => {
    const silence = { noticeMs: 60_000, maxMs: 300 };
    const { server, session, turn } = await start([{ ...DONE, delayMs: 60_000 }], { kind, retries: 2, silence });
    await expect(session.runTurn(turn)).rejects.toMatchObject({
      errorType: 'network',
      message: expect.stringContaining('said nothing for'),
    });
    expect(server.requests).toHaveLength(1);
  });

  it('does not promise another attempt after the last', async () => {
    const { session, turn } = await start([busy, busy], { retries: 1 });
    await expect(session.runTurn(turn)).rejects.toMatchObject({ errorType: 'rate-limited' });
    expect(activitiesOf(turn)).toEqual(['Model answered 429; trying again in 1 s', undefined]);
  });

  it('shows nothing for one that is not made again', async () => {
    const { session, turn } = await start([{ status: 400, message: 'no' }], { retries: 1 });
    await expect(session.runTurn(turn)).rejects.toMatchObject({ errorType: 'other' });
    expect(activitiesOf(turn)).toEqual([]);
  });
});
