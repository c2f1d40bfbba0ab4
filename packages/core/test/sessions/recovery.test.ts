import type { ActiveTurn, SessionAction, SessionState } from '@atrium/protocol';
import { describe, expect, it, vi } from 'vitest';
import { STORE_RETRY_MS } from '../../src/channels/limits.js';
import { abandonCalls, afterCrash, afterDamage, afterLoss, endCutCalls } from '../../src/sessions/recovery.js';
import type { InterruptedCommands } from '../../src/sessions/running-commands.js';
import type { Session, SessionOptions } from '../../src/sessions/session.js';

type Call = Record<string, unknown>;
const call = (status: string, more: Call = {}) => ({
  kind: 'toolCall',
  toolCall: { status, toolCallId: status, displayName: 'Tool', ...more },
});
const turn = (...responseParts: unknown[]) => ({ id: 't', responseParts }) as unknown as ActiveTurn;
const AGAIN = expect.stringMatching(/ Send the message again to go on\.$/);
const STOPPED = 'The host stopped while this turn was running. Send the message again to go on.';
const none = { of: () => undefined } as unknown as InterruptedCommands;

function sessionWith(state: Partial<SessionState>) {
  const written: SessionAction[] = [];
  const calls = { create: vi.fn(), archive: vi.fn(), stopAgent: vi.fn(), dropAbsentClient: vi.fn(), lost: vi.fn() };
  const session = {
    uri: 's',
    state,
    isClosed: false,
    write: (action: SessionAction) => written.push(action),
    ...calls,
  };
  const timers: { ms: number; run: () => void }[] = [];
  const setActive = vi.fn();
  const options = {
    clock: { now: () => 0, after: (ms: number, run: () => void) => timers.push({ ms, run }) },
    records: { setActive },
  };
  return {
    ...{ session: session as unknown as Session, options: options as unknown as SessionOptions },
    ...{ written, timers, setActive, state: session, ...calls },
  };
}

describe('a session after a crash', () => {
  it('ends its turn with an error, which warns when a tool was running', () => {
    const idle = sessionWith({ activeTurn: turn(), lifecycle: 'ready' });
    afterCrash(idle.session, idle.options, none);
    expect(idle.written).toEqual([
      { type: 'session/error', turnId: 't', error: { errorType: 'host-restarted', message: STOPPED } },
    ]);
    const busy = sessionWith({ activeTurn: turn(call('running')), lifecycle: 'ready' });
    afterCrash(busy.session, busy.options, none);
    const [, error] = busy.written;
    expect(error).toMatchObject({ error: { message: expect.stringContaining('A tool was interrupted') } });
    expect(JSON.stringify(idle.written)).not.toContain('A tool was interrupted');
    expect([idle.setActive.mock.calls.length, idle.create.mock.calls.length]).toEqual([0, 0]);
  });

  it('goes on with its creation, and is not active without a turn', () => {
    const creating = sessionWith({ lifecycle: 'creating' });
    afterCrash(creating.session, creating.options, none);
    expect(creating.create).toHaveBeenCalledOnce();
    expect(creating.setActive).not.toHaveBeenCalled();
    const ready = sessionWith({ lifecycle: 'ready' });
    afterCrash(ready.session, ready.options, none);
    expect(ready.create).not.toHaveBeenCalled();
    expect(ready.setActive).toHaveBeenCalledExactlyOnceWith('s', false);
    expect(ready.written).toEqual([]);
  });
});

describe('a session that was damaged on disk', () => {
  it('[REL-064] says so in the turn that misses something, and is stored anew', () => {
    const { session, written, archive } = sessionWith({ activeTurn: turn() });
    afterDamage(session);
    expect(written).toMatchObject([
      { type: 'session/error', turnId: 't', error: { errorType: 'damaged', message: AGAIN } },
    ]);
    expect(archive).toHaveBeenCalledOnce();
    const idle = sessionWith({});
    afterDamage(idle.session);
    expect([idle.written, idle.archive.mock.calls.length]).toEqual([[], 1]);
  });
});

describe('a session whose actions could not be stored', () => {
  const lost = (...types: string[]) => types.map((type) => ({ type })) as never;

  it('[REL-033] stops the agent whose words are lost, and says so later', () => {
    const { session, options, written, timers, stopAgent, create, lost: told } = sessionWith({ activeTurn: turn() });
    afterLoss(session, options, lost('session/ready', 'session/delta'));
    expect(stopAgent).toHaveBeenCalledExactlyOnceWith('t');
    expect([written, timers.map(({ ms }) => ms)]).toEqual([[], [STORE_RETRY_MS]]);
    timers[0]?.run();
    expect(written).toMatchObject([
      { type: 'session/error', turnId: 't', error: { errorType: 'not-stored', message: AGAIN } },
    ]);
    expect([create.mock.calls.length, told.mock.calls.length]).toEqual([1, 1]);
  });

  it.each([
    ...['session/ready', 'session/creationFailed', 'session/activeClientChanged', 'session/customizationsChanged'],
    ...['session/customizationUpdated', 'session/customizationRemoved', 'session/turnCancelled'],
  ])('[REL-033] lets a turn go on when only %s is lost', (type) => {
    const { session, options, written, timers, stopAgent, create, dropAbsentClient } = sessionWith({
      activeTurn: turn(),
    });
    afterLoss(session, options, lost(type));
    timers[0]?.run();
    expect([stopAgent.mock.calls.length, written]).toEqual([0, []]);
    expect(create).toHaveBeenCalledTimes(type === 'session/ready' || type === 'session/creationFailed' ? 1 : 0);
    expect(dropAbsentClient).toHaveBeenCalledOnce();
  });

  it('[REL-033] does nothing more once it is closed, and leaves a turn that has begun since', () => {
    const closed = sessionWith({ activeTurn: turn() });
    afterLoss(closed.session, closed.options, lost('session/delta'));
    closed.state.isClosed = true;
    closed.timers[0]?.run();
    expect([closed.written, closed.lost.mock.calls.length]).toEqual([[], 0]);
    const other = sessionWith({ activeTurn: turn() });
    afterLoss(other.session, other.options, lost('session/delta'));
    other.state.state = { activeTurn: { ...turn(), id: 'next' } };
    other.timers[0]?.run();
    expect(other.written).toEqual([]);
    const without = sessionWith({});
    afterLoss(without.session, without.options, lost('session/delta'));
    without.timers[0]?.run();
    expect([without.stopAgent.mock.calls.length, without.written]).toEqual([0, []]);
  });
});

describe('the calls of a client that did not come back', () => {
  it('fail, and no others', () => {
    const mine = { toolClientId: 'c' };
    const { session, written } = sessionWith({
      activeTurn: turn(
        { kind: 'markdown' },
        call('running', mine),
        call('pending-confirmation', mine),
        call('streaming', mine),
        call('completed', mine),
        call('running', { toolCallId: 'other', toolClientId: 'd' }),
      ),
    });
    abandonCalls(session, 'c');
    const ends = written.map(({ type, ...rest }) => [type, (rest as Call).toolCallId]);
    expect(ends).toEqual([
      ['session/toolCallComplete', 'running'],
      ['session/toolCallComplete', 'pending-confirmation'],
      ['session/toolCallReady', 'streaming'],
      ['session/toolCallComplete', 'streaming'],
    ]);
    expect(written[0]).toMatchObject({
      turnId: 't',
      result: {
        success: false,
        pastTenseMessage: 'Lost its client',
        error: { code: 'DISCONNECTED', message: 'the client c left and did not come back' },
      },
    });
    expect(written[2]).toMatchObject({ turnId: 't', invocationMessage: 'Use Tool' });
    const idle = sessionWith({});
    abandonCalls(idle.session, 'c');
    expect(idle.written).toEqual([]);
  });
});

describe('a call that the end of the host cut off', () => {
  function cut(part: unknown, command?: { processes: string; output: string }) {
    const written: SessionAction[] = [];
    const of = vi.fn(() => command as never);
    const session = { uri: 's', write: (action: SessionAction) => written.push(action) };
    const isRunning = endCutCalls(session, turn({ kind: 'markdown' }, part), { of } as unknown as InterruptedCommands);
    return { isRunning, written: written as unknown as Call[], of };
  }

  it('that was running is interrupted, and may have done its work', () => {
    const { isRunning, written, of } = cut(call('running', { invocationMessage: 'Run it', toolClientId: 'c' }));
    expect(isRunning).toBe(true);
    expect(of).toHaveBeenCalledExactlyOnceWith({ session: 's', toolCallId: 'running' });
    expect(written).toEqual([
      {
        type: 'session/toolCallComplete',
        turnId: 't',
        toolCallId: 'running',
        result: {
          success: false,
          pastTenseMessage: 'Interrupted while running: Run it',
          content: [],
          error: { code: 'INTERRUPTED', message: expect.stringContaining('The client c was running it') },
        },
      },
    ]);
    expect(cut(call('running')).written[0]).toMatchObject({
      result: {
        pastTenseMessage: 'Interrupted while running: Tool',
        error: { message: expect.stringMatching(/Whatever was running it may have gone on for a while\.$/) },
      },
    });
  });

  it.each([
    ['ended', 'have been ended'],
    ['gone', 'No process of it is running'],
    ['unknown', 'may still be running'],
  ])('with processes that are %s says so', (processes, words) => {
    const { written } = cut(call('running', { toolClientId: 'c' }), { processes, output: '' });
    expect(written[0]).toMatchObject({ result: { error: { message: expect.stringContaining(words) } } });
  });

  it('keeps what people have seen: the output of its terminal, or its own text', () => {
    const content = [{ type: 'terminal', resource: 'x' }, { type: 'text', text: 'own' }, { type: 'image' }];
    const shown = (output?: string) =>
      (
        cut(call('running', { content }), output === undefined ? undefined : { processes: 'gone', output })
          .written[0] as {
          result: { content: unknown[] };
        }
      ).result.content;
    expect(shown()).toEqual([{ type: 'text', text: 'own' }, { type: 'image' }]);
    expect(shown('')).toEqual([{ type: 'text', text: 'own' }, { type: 'image' }]);
    expect(shown('output')).toEqual([{ type: 'text', text: 'output' }, { type: 'image' }]);
  });

  it('that was not allowed yet never started', () => {
    const { isRunning, written } = cut(call('pending-confirmation'));
    expect(isRunning).toBe(false);
    expect(written).toEqual([
      {
        ...{ type: 'session/toolCallConfirmed', turnId: 't', toolCallId: 'pending-confirmation', approved: false },
        ...{ reason: 'skipped', reasonMessage: expect.stringContaining('never started') },
      },
    ]);
  });

  it('whose input was not complete keeps what was seen of it', () => {
    const whole = cut(call('streaming', { invocationMessage: 'Run', partialInput: '{"a"' })).written;
    expect(whole[0]).toEqual({
      ...{ type: 'session/toolCallReady', turnId: 't', toolCallId: 'streaming' },
      ...{ invocationMessage: 'Run', toolInput: '{"a"' },
    });
    expect(whole[1]).toMatchObject({ approved: false, reasonMessage: expect.stringContaining('input') });
    const [bare] = cut(call('streaming')).written;
    expect(bare).toStrictEqual({
      ...{ type: 'session/toolCallReady', turnId: 't', toolCallId: 'streaming', invocationMessage: 'Use Tool' },
    });
  });

  it('whose result was not released keeps it from the model, and tells people', () => {
    const content = [{ type: 'text', text: 'one' }, { type: 'image' }, { type: 'text', text: 'two' }];
    const { written } = cut(call('pending-result-confirmation', { content }));
    const target = { turnId: 't', toolCallId: 'pending-result-confirmation' };
    expect(written).toEqual([
      { type: 'session/toolCallResultConfirmed', ...target, approved: false },
      {
        ...{ type: 'session/responsePart', turnId: 't' },
        part: { kind: 'systemNotification', content: expect.stringMatching(/of Tool .*\none\ntwo$/) },
      },
    ]);
    expect(cut(call('pending-result-confirmation')).written).toHaveLength(2);
  });

  it('that is over stays as it is', () => {
    expect(cut(call('completed')).written).toEqual([]);
  });
});
