/** The tests of the suite, by subject. */
import { readFile } from 'node:fs/promises';
import type { Gate } from '@atrium/core/contracts/extension.js';
import { PLANNED_FAILURES, type Suite } from './suite.js';
import { approve, callsNote, deny, NOTE, NOTED, REASON, type TestSession, textIn } from './test-session.js';

/** Text must arrive in pieces, and thinking must be kept apart from it. */
export function streaming({ test, expect, shows }: Suite): void {
  test('streams text as it comes', [{ text: ['Hel', 'lo ', 'there'] }], async (session) => {
    const turn = await session.turn('hello');
    expect([turn.state, textIn(turn)]).toEqual(['complete', 'Hello there']);
    expect(session.actions.filter(({ type }) => type === 'session/delta').length > 1).toBe(true);
  });

  if (!shows('reasoning')) return;
  test('keeps thinking apart from text', [{ reasoning: 'Hm.', text: ['Yes.'] }], async (session) => {
    const { responseParts } = await session.turn('is it?');
    const parts = responseParts.map((part) => [part.kind, 'content' in part ? part.content : '']);
    expect(parts).toEqual([
      ['reasoning', 'Hm.'],
      ['markdown', 'Yes.'],
    ]);
  });
}

/** A tool that the host runs must be called once a person has agreed, and only then. */
export function toolCalls({ test, expect, shows }: Suite): void {
  const agreed = 'calls a tool once a person has agreed, asks once, and goes on with the result';
  test(agreed, [callsNote, { text: ['Noted.'] }], async (session) => {
    const turn = await session.turn('note it', approve);
    expect([session.notes, session.questions]).toEqual([[{ text: 'plums' }], 1]);
    expect([turn.state, textIn(turn)]).toEqual(['complete', 'Noted.']);
    if (shows('heard')) expect((await session.receivedMessages()).includes(NOTED)).toBe(true);
  });

  const denied = '[UNI-089] does not call a tool that a person denies, and hears why';
  test(denied, [callsNote, { text: ['As you wish.'] }], async (session) => {
    const turn = await session.turn('note it', deny);
    expect(session.notes).toEqual([]);
    expect([turn.state, textIn(turn)]).toEqual(['complete', 'As you wish.']);
    if (shows('heard')) expect((await session.receivedMessages()).includes(REASON)).toBe(true);
  });
}

const WHY = 'no notes on a Sunday';

const gate: Gate = {
  name: 'calendar',
  concerns: ({ toolName }) => toolName === NOTE,
  check: () => ({ kind: 'deny', reason: WHY }),
};

/** The host asks gates before a call, and asks no person about a call that a gate stopped. */
export function gates({ test, expect, shows }: Suite): void {
  test(
    '[UNI-088] does not call a tool that a gate denies, and hears why',
    [callsNote, { text: ['Tomorrow then.'] }],
    async (session) => {
      const turn = await session.turn('note it');
      expect([session.notes, session.questions]).toEqual([[], 0]);
      expect([turn.state, textIn(turn)]).toEqual(['complete', 'Tomorrow then.']);
      if (shows('heard')) expect((await session.receivedMessages()).includes(WHY)).toBe(true);
    },
    { gates: [gate] },
  );
}

/** How soon a backend must have stopped after a turn was cancelled. */
const CANCEL_MAX_MS = 1_000;

/** Cancelling a turn must also end it for the agent, and soon. */
export function cancelling({ test, expect }: Suite): void {
  test(
    `stops within ${CANCEL_MAX_MS} ms of being cancelled, keeps what it said, and takes the next turn`,
    [{ text: ['so far'], hangs: true }, { text: ['again'] }],
    async (session) => {
      const turnId = session.begin('go');
      await session.action('session/delta');
      session.dispatch({ type: 'session/turnCancelled', turnId });
      expect(await session.stopsWithin(CANCEL_MAX_MS)).toBe(true);
      const turn = await session.finished(turnId);
      expect([turn.state, textIn(turn)]).toEqual(['cancelled', 'so far']);
      expect(textIn(await session.turn('once more'))).toBe('again');
    },
  );

  test(
    'takes a turn that begins while a cancelled one is still ending, and keeps the two apart',
    [{ text: ['first'], hangs: true }, { text: ['second'] }],
    async (session) => {
      const first = session.begin('go');
      await session.action('session/delta');
      session.dispatch({ type: 'session/turnCancelled', turnId: first });
      const second = session.begin('once more');
      expect([textIn(await session.finished(second)), textIn(await session.finished(first))]).toEqual([
        'second',
        'first',
      ]);
    },
  );

  test(
    `stops within ${CANCEL_MAX_MS} ms while a call waits for a person, and the call never runs`,
    [callsNote, { text: ['again'] }],
    async (session) => {
      const turnId = session.begin('go');
      await session.question(turnId);
      session.dispatch({ type: 'session/turnCancelled', turnId });
      expect(await session.stopsWithin(CANCEL_MAX_MS)).toBe(true);
      expect((await session.finished(turnId)).state).toBe('cancelled');
      expect([textIn(await session.turn('once more')), session.notes]).toEqual(['again', []]);
    },
  );
}

/** A failure must end the turn, not the session, and have the right type. */
export function failures({ test, expect, distinguishes, shows }: Suite): void {
  if (!shows('failures')) return;
  for (const fails of PLANNED_FAILURES) {
    const how = distinguishes(fails) ? `as "${fails}"` : `in some way, after "${fails}"`;
    test(`says that it failed, ${how}, and takes the next turn`, [{ fails }, { text: ['again'] }], async (session) => {
      const { state, error } = await session.turn('go');
      expect([state, (error?.message ?? '') !== '']).toEqual(['error', true]);
      expect(distinguishes(fails) ? error?.errorType : fails).toBe(fails);
      expect(textIn(await session.turn('once more'))).toBe('again');
    });
  }
}

export function usage({ test, expect, shows }: Suite): void {
  if (!shows('usage')) return;
  test('tells what a turn has used', [{ text: ['Yes.'], usage: { input: 120, output: 7 } }], async (session) => {
    const { usage } = await session.turn('is it?');
    expect([usage?.inputTokens, usage?.outputTokens]).toEqual([120, 7]);
  });
}

const STEERING = 'think of the pears too';

/** A steerable agent gets a message in the middle of a turn; for any other agent the message waits. */
export function steering({ test, expect, shows }: Suite): void {
  if (!shows('heard')) return;
  const name = '[UNI-092] hears what a person adds in the middle of a turn, if it says that it can, or takes nothing';
  test(name, [callsNote, { text: ['Pears too.'] }], async (session) => {
    const turnId = session.begin('note it');
    const toolCallId = await session.question(turnId);
    session.dispatch({
      type: 'session/pendingMessageSet',
      kind: 'steering',
      id: 's-1',
      userMessage: { text: STEERING },
    });
    session.dispatch(approve(toolCallId, turnId));
    await session.finished(turnId);
    const { steeringMessage } = await session.state();
    const isReceived = (await session.receivedMessages()).includes(STEERING);
    const { steer } = session.agent.abilities;
    expect([isReceived, steeringMessage?.id]).toEqual(steer ? [true, undefined] : [false, 's-1']);
  });
}

/** A session must survive a restart of the host, and forget turns that were cut off. */
export function resuming({ test, expect, shows }: Suite): void {
  if (!shows('heard')) return;

  test(
    'remembers a session after the host was started anew',
    [callsNote, { text: ['It is a plum.'] }, { text: ['A plum.'] }],
    async (session) => {
      await session.turn('which fruit?', approve);
      await session.restart();
      expect(textIn(await session.turn('which was it?'))).toBe('A plum.');
      const receivedMessages = await session.receivedMessages();
      const missing = ['which fruit?', NOTED, 'It is a plum.', 'which was it?'].filter(
        (text) => !receivedMessages.includes(text),
      );
      expect(missing).toEqual([]);
    },
  );

  if (!shows('truncation')) return;
  test(
    'forgets what was cut off, and only that',
    [{ text: ['A plum.'] }, { text: ['A walnut.'] }, { text: ['Yes.'] }],
    async (session) => {
      const { id } = await session.turn('which fruit?');
      await session.turn('which nut?');
      session.dispatch({ type: 'session/truncated', turnId: id });
      await session.turn('is it?');
      const receivedMessages = await session.receivedMessages();
      const known = ['which fruit?', 'A plum.', 'which nut?', 'A walnut.'].filter((text) =>
        receivedMessages.includes(text),
      );
      expect(known).toEqual(['which fruit?', 'A plum.']);
    },
  );
}

const RULE = 'Speak of fruit in the plural.';
const CONTEXT = 'It is plum season.';

/** The sections of the agent, and text that others add, must reach the model as far as the agent declares. */
export function prompt({ test, expect, shows }: Suite): void {
  if (!shows('heard')) return;
  const answer = [{ text: ['Yes.'] }];

  test(
    '[UNI-098] puts every section that it declares to whatever thinks, and declares none without that ability',
    answer,
    async (session) => {
      await session.turn('is it?');
      const receivedMessages = await session.receivedMessages();
      const texts = Object.values(session.agent.sections);
      expect(texts.filter((text) => !receivedMessages.includes(text))).toEqual([]);
      const { abilities, info } = session.agent;
      const declared = (info.systemMessageSections ?? []).map(({ id }) => id);
      if (abilities.render !== 'sections') expect(declared).toEqual([]);
      // The text itself may be known only when the prompt is rendered, and is passed then.
      else expect(declared.length > 0).toBe(true);
    },
  );

  test(
    '[UNI-090] hears what others add to the prompt, if it says that it takes such text',
    answer,
    async (session) => {
      await session.turn('is it?');
      expect((await session.receivedMessages()).includes(RULE)).toBe(session.agent.abilities.render !== 'none');
    },
    { prompt: { rules: () => [RULE] } },
  );

  test(
    '[UNI-091] hears what the model alone is to know of a turn',
    answer,
    async (session) => {
      const turn = await session.turn('is it?');
      expect((await session.receivedMessages()).includes(CONTEXT)).toBe(true);
      expect(JSON.stringify(turn).includes(CONTEXT)).toBe(false);
    },
    { beforeTurn: async () => ({ context: CONTEXT }) },
  );
}

/** The system removes an ended process from its table a moment later. */
const GONE_MAX_MS = 2_000;
const POLL_MS = 20;

/** An agent that starts processes must leave none behind. */
export function processes({ test, expect }: Suite): void {
  test('leaves no process behind', [{ text: ['Yes.'] }], async (session) => {
    expect(textIn(await session.turn('is it?'))).toBe('Yes.');
    expect((await session.pids())?.length !== 0).toBe(true);
    expect(await runningProcesses(session)).toEqual([]);
  });

  test('leaves no process behind in the middle of a turn', [{ text: ['Well'], hangs: true }], async (session) => {
    session.begin('is it?');
    await session.action('session/delta');
    expect(await runningProcesses(session)).toEqual([]);
  });
}

/** Stops the host, and names the agent's processes that still run. */
export async function runningProcesses(session: TestSession): Promise<number[]> {
  const pids = (await session.pids()) ?? [];
  await session.stop();
  const until = Date.now() + GONE_MAX_MS;
  for (;;) {
    const states = await Promise.all(pids.map(async (pid) => ((await isRunning(pid)) ? pid : [])));
    const running = states.flat();
    if (running.length === 0 || Date.now() > until) return running;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A process whose parent never collected its exit status stays in the table, although it no longer runs. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  const entry = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return !/\) [ZX] /.test(entry);
}
