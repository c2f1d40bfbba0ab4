import type { ActiveTurn, ChatAction, ChatState, SessionState } from '@atrium/protocol/ahp-1';
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
const ofClient = (clientId: string) => ({ contributor: { kind: 'client', clientId } });
const turn = (...responseParts: unknown[]) => ({ id: 't', responseParts }) as unknown as ActiveTurn;
const AGAIN = expect.stringMatching(/ Send the message again to go on\.$/);
const STOPPED = 'The host stopped while this turn was running. Send the message again to go on.';
const none = { of: () => undefined } as unknown as InterruptedCommands;
const nothing = { commands: none, handedOverTurns: new Map<string, string>() };
const failed = (errorType: string, message: unknown) => ({
  ...{ type: 'chat/error', turnId: 't', duration: 0, part: { kind: 'error', error: { errorType, message } } },
});

/** A session with these chats. What is written to one of them is seen under its URI. */
function sessionWith(
  state: Partial<SessionState>,
  ...chatStates: (Partial<ChatState> & { readonly canResume?: boolean })[]
) {
  const calls = {
    create: vi.fn(),
    storeArchive: vi.fn(),
    relist: vi.fn(),
    stopAgent: vi.fn(),
    dropAbsentClients: vi.fn(),
    lost: vi.fn(),
  };
  const written: ChatAction[] = [];
  const chats = chatStates.map((chatState, index) => {
    const chat = {
      ...{ uri: `c${index}`, session: { uri: 's' }, state: chatState, actions: [] as ChatAction[] },
      stopAgent: calls.stopAgent,
      canResume: chatState.canResume === true,
      write: (action: ChatAction) => {
        chat.actions.push(action);
        written.push(action);
      },
    };
    return chat;
  });
  const session = {
    ...{ uri: 's', state, chats, isClosed: false, ...calls },
    isAtWork: state.lifecycle === 'creating' || chatStates.some(({ activeTurn }) => activeTurn !== undefined),
  };
  const timers: { ms: number; run: () => void }[] = [];
  const setActive = vi.fn();
  const options = {
    clock: { now: () => 0, after: (ms: number, run: () => void) => timers.push({ ms, run }) },
    records: { setActive },
  };
  return {
    ...{ session: session as unknown as Session, options: options as unknown as SessionOptions },
    ...{ written, timers, setActive, state: session, chats, ...calls },
  };
}

describe('a session after a crash', () => {
  it('ends its turn with an error, which warns when a tool was running', () => {
    const idle = sessionWith({ lifecycle: 'ready' }, { activeTurn: turn() });
    afterCrash(idle.session, idle.options, nothing);
    expect(idle.written).toEqual([failed('host-restarted', STOPPED)]);
    const busy = sessionWith({ lifecycle: 'ready' }, { activeTurn: turn(call('running')) });
    afterCrash(busy.session, busy.options, nothing);
    const [, error] = busy.written;
    expect(error).toEqual(failed('host-restarted', expect.stringContaining('A tool was interrupted')));
    expect(JSON.stringify(idle.written)).not.toContain('A tool was interrupted');
    expect([idle.setActive.mock.calls.length, idle.create.mock.calls.length]).toEqual([0, 0]);
  });

  it('ends the turns of all its chats', () => {
    const { session, options, chats } = sessionWith({}, { activeTurn: turn() }, {}, { activeTurn: turn() });
    afterCrash(session, options, nothing);
    expect(chats.map(({ actions }) => actions.length)).toEqual([1, 0, 1]);
  });

  it('goes on with its creation, and is not active without a turn', () => {
    const creating = sessionWith({ lifecycle: 'creating' }, {});
    afterCrash(creating.session, creating.options, nothing);
    expect(creating.create).toHaveBeenCalledOnce();
    expect(creating.setActive).not.toHaveBeenCalled();
    const ready = sessionWith({ lifecycle: 'ready' }, {});
    afterCrash(ready.session, ready.options, nothing);
    expect(ready.create).not.toHaveBeenCalled();
    expect(ready.setActive).toHaveBeenCalledExactlyOnceWith('s', false);
    expect(ready.written).toEqual([]);
  });
});

describe('a turn of an agent that can go on in the middle', () => {
  const resuming = () => sessionWith({}, { activeTurn: turn(), canResume: true });
  const end = ({ written }: ReturnType<typeof resuming>) => (written.at(-1) as { part?: unknown } | undefined)?.part;

  it('[UP-115] can be resumed after a crash', () => {
    const crashed = resuming();
    afterCrash(crashed.session, crashed.options, nothing);
    expect(end(crashed)).toEqual({
      ...{ kind: 'error', resumable: true },
      error: { errorType: 'host-restarted', message: expect.stringMatching(/\. Resume the turn to go on\.$/) },
    });
  });

  it('[UP-115] cannot be resumed when something of it is missing: a call may have run that nobody knows of', () => {
    const damaged = resuming();
    afterDamage(damaged.session);
    expect(end(damaged)).toEqual({ kind: 'error', error: { errorType: 'damaged', message: AGAIN } });
    const unstored = resuming();
    afterLoss(unstored.session, unstored.options, [{ type: 'chat/delta' }] as never);
    unstored.timers[0]?.run();
    expect(end(unstored)).toEqual({ kind: 'error', error: { errorType: 'not-stored', message: AGAIN } });
  });
});

describe('a session that was damaged on disk', () => {
  it('[REL-064] says so in the turn that misses something, and is stored anew', () => {
    const { session, written, storeArchive, relist } = sessionWith({}, { activeTurn: turn() });
    afterDamage(session);
    expect(written).toEqual([failed('damaged', AGAIN)]);
    expect([storeArchive.mock.calls.length, relist.mock.calls.length]).toEqual([1, 1]);
    const idle = sessionWith({}, {});
    afterDamage(idle.session);
    expect([idle.written, idle.storeArchive.mock.calls.length]).toEqual([[], 1]);
  });
});

describe('a session whose actions could not be stored', () => {
  const lost = (...types: string[]) => types.map((type) => ({ type })) as never;

  it('[REL-033] stops the agent whose words are lost, and says so later', () => {
    const {
      session,
      options,
      written,
      timers,
      stopAgent,
      create,
      lost: told,
    } = sessionWith({}, { activeTurn: turn() });
    afterLoss(session, options, lost('session/ready', 'chat/delta'));
    expect(stopAgent).toHaveBeenCalledExactlyOnceWith('t');
    expect([written, timers.map(({ ms }) => ms)]).toEqual([[], [STORE_RETRY_MS]]);
    timers[0]?.run();
    expect(written).toEqual([failed('not-stored', AGAIN)]);
    expect([create.mock.calls.length, told.mock.calls.length]).toEqual([1, 1]);
  });

  it.each([
    ...['session/ready', 'session/creationFailed', 'session/activeClientSet', 'session/activeClientRemoved'],
    ...['session/customizationsChanged', 'session/customizationUpdated', 'session/customizationRemoved'],
    ...['session/chatUpdated', 'session/inputNeededSet', 'chat/turnCancelled'],
  ])('[REL-033] lets a turn go on when only %s is lost', (type) => {
    const { session, options, written, timers, stopAgent, create, dropAbsentClients } = sessionWith(
      {},
      { activeTurn: turn() },
    );
    afterLoss(session, options, lost(type));
    timers[0]?.run();
    expect([stopAgent.mock.calls.length, written]).toEqual([0, []]);
    expect(create).toHaveBeenCalledTimes(type === 'session/ready' || type === 'session/creationFailed' ? 1 : 0);
    expect(dropAbsentClients).toHaveBeenCalledOnce();
  });

  it('[REL-033] does nothing more once it is closed, and leaves a turn that has begun since', () => {
    const closed = sessionWith({}, { activeTurn: turn() });
    afterLoss(closed.session, closed.options, lost('chat/delta'));
    closed.state.isClosed = true;
    closed.timers[0]?.run();
    expect([closed.written, closed.lost.mock.calls.length]).toEqual([[], 0]);
    const other = sessionWith({}, { activeTurn: turn() });
    afterLoss(other.session, other.options, lost('chat/delta'));
    for (const chat of other.chats) chat.state = { activeTurn: { ...turn(), id: 'next' } };
    other.timers[0]?.run();
    expect(other.written).toEqual([]);
    const without = sessionWith({}, {});
    afterLoss(without.session, without.options, lost('chat/delta'));
    without.timers[0]?.run();
    expect([without.stopAgent.mock.calls.length, without.written]).toEqual([0, []]);
  });
});

describe('the calls of a client that did not come back', () => {
  it('fail, and no others', () => {
    const mine = ofClient('c');
    const { session, written } = sessionWith(
      {},
      {
        activeTurn: turn(
          { kind: 'markdown' },
          call('running', mine),
          call('pending-confirmation', mine),
          call('streaming', mine),
          call('completed', mine),
          call('running', { toolCallId: 'other', ...ofClient('d') }),
          call('running', { toolCallId: 'ours' }),
          call('running', { toolCallId: 'server', contributor: { kind: 'mcp', customizationId: 'c' } }),
        ),
      },
    );
    abandonCalls(session, 'c');
    const ends = written.map(({ type, ...rest }) => [type, (rest as Call).toolCallId]);
    expect(ends).toEqual([
      ['chat/toolCallComplete', 'running'],
      ['chat/toolCallComplete', 'pending-confirmation'],
      ['chat/toolCallReady', 'streaming'],
      ['chat/toolCallComplete', 'streaming'],
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
    const idle = sessionWith({}, {});
    abandonCalls(idle.session, 'c');
    expect(idle.written).toEqual([]);
  });
});

describe('a call that the end of the host cut off', () => {
  function cut(part: unknown, command?: { processes: string; output: string }) {
    const written: ChatAction[] = [];
    const of = vi.fn(() => command as never);
    const chat = { ownKey: 's', write: (action: ChatAction) => written.push(action) };
    const isRunning = endCutCalls(chat, turn({ kind: 'markdown' }, part), { of } as unknown as InterruptedCommands);
    return { isRunning, written: written as unknown as Call[], of };
  }

  it('that was running is interrupted, and may have done its work', () => {
    const { isRunning, written, of } = cut(call('running', { invocationMessage: 'Run it', ...ofClient('c') }));
    expect(isRunning).toBe(true);
    expect(of).toHaveBeenCalledExactlyOnceWith({ owner: 's', toolCallId: 'running' });
    expect(written).toEqual([
      {
        type: 'chat/toolCallComplete',
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
    ['gone', 'None of its processes is running'],
    ['unknown', 'may still be running'],
  ])('with processes that are %s says so', (processes, words) => {
    const { written } = cut(call('running', { ...ofClient('c') }), { processes, output: '' });
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
        ...{ type: 'chat/toolCallConfirmed', turnId: 't', toolCallId: 'pending-confirmation', approved: false },
        ...{ reason: 'skipped', reasonMessage: expect.stringContaining('never started') },
      },
    ]);
  });

  it('that waited for somebody to sign in has done nothing', () => {
    const { isRunning, written } = cut(call('auth-required', { auth: {} }));
    expect(isRunning).toBe(false);
    expect(written).toEqual([
      {
        ...{ type: 'chat/toolCallComplete', turnId: 't', toolCallId: 'auth-required' },
        result: {
          ...{ success: false, pastTenseMessage: 'Could not use Tool' },
          error: { code: 'AUTH_REQUIRED', message: expect.stringContaining('did nothing for this call') },
        },
      },
    ]);
  });

  it('whose input was not complete keeps what was seen of it', () => {
    const whole = cut(call('streaming', { invocationMessage: 'Run', partialInput: '{"a"' })).written;
    expect(whole[0]).toEqual({
      ...{ type: 'chat/toolCallReady', turnId: 't', toolCallId: 'streaming' },
      ...{ invocationMessage: 'Run', toolInput: '{"a"' },
    });
    expect(whole[1]).toMatchObject({ approved: false, reasonMessage: expect.stringContaining('input') });
    const [bare] = cut(call('streaming')).written;
    expect(bare).toStrictEqual({
      ...{ type: 'chat/toolCallReady', turnId: 't', toolCallId: 'streaming', invocationMessage: 'Use Tool' },
    });
  });

  it('whose result was not released keeps it from the model, and tells people', () => {
    const content = [{ type: 'text', text: 'one' }, { type: 'image' }, { type: 'text', text: 'two' }];
    const { written } = cut(call('pending-result-confirmation', { content }));
    const target = { turnId: 't', toolCallId: 'pending-result-confirmation' };
    expect(written).toEqual([
      { type: 'chat/toolCallResultConfirmed', ...target, approved: false },
      {
        ...{ type: 'chat/responsePart', turnId: 't' },
        part: { kind: 'systemNotification', content: expect.stringMatching(/of Tool .*\none\ntwo$/) },
      },
    ]);
    expect(cut(call('pending-result-confirmation')).written).toHaveLength(2);
  });

  it('that is over stays as it is', () => {
    expect(cut(call('completed')).written).toEqual([]);
  });
});
