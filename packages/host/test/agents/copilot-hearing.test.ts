/** What Copilot has heard and what it has not, by a runtime that does only what a test tells it to. */
import type { Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { CopilotRuntime } from '../../../agents/src/copilot/runtime.js';
import type { CopilotSdk, SdkEvent, SdkSession, SessionConfig } from '../../../agents/src/copilot/sdk.js';
import { CopilotSession } from '../../../agents/src/copilot/session.js';
import { FakeTurn, messageOf } from '../support/fake-turn.js';
import { tempFolder } from '../support/temp-folder.js';

const EARLIER: Turn = {
  id: 'turn-0',
  message: messageOf('which fruit?'),
  responseParts: [{ kind: 'markdown', id: 'p', content: 'A plum.' }],
  state: 'complete',
  usage: undefined,
};

type Talk = Pick<SessionConfig, 'hooks'> & { emit(type: SdkEvent['type'], data?: object): void };
/** What the runtime does with a message. */
type Hearing = (talk: Talk) => Promise<void>;

class StandIn {
  /** Lines to the session that are open. */
  readonly lines = new Set<object>();
  resuming: Promise<void> = Promise.resolve();
  isResuming = false;

  constructor(private readonly hearings: Hearing[]) {}

  load = async (): Promise<CopilotSdk> => {
    const client = {
      ...{ start: async () => {}, stop: async () => {}, forceStop: async () => {}, ping: async () => {} },
      getSessionMetadata: async () => (this.lines.size > 0 ? {} : undefined),
      createSession: async (config: SessionConfig) => this.#session(config),
      resumeSession: async (_id: string, config: SessionConfig) => {
        this.isResuming = true;
        await this.resuming;
        // The new line takes the place of the one that was there.
        this.lines.clear();
        return this.#session(config);
      },
    };
    return {
      CopilotClient: class {
        constructor() {
          Object.assign(this, client);
        }
      },
    } as unknown as CopilotSdk;
  };

  #session({ hooks, onEvent }: SessionConfig): SdkSession {
    const line = {};
    this.lines.add(line);
    const emit: Talk['emit'] = (type, data = {}) => onEvent({ id: 'e-1', type, data } as unknown as SdkEvent);
    const nothing = async () => ({ tools: [], tasks: [] });
    return {
      send: async () => {
        await this.hearings.shift()?.({ hooks, emit });
        return '';
      },
      ...{ abort: async () => {}, setModel: async () => {} },
      disconnect: async () => void this.lines.delete(line),
      rpc: {
        tools: { initializeAndValidate: nothing, getCurrentMetadata: nothing },
        tasks: { list: nothing, cancel: nothing },
        history: { truncate: nothing },
      },
    };
  }
}

async function openSession(hearings: Hearing[]) {
  const standIn = new StandIn(hearings);
  const models = [{ id: 'm-1', name: 'M 1' }];
  const options = { home: await tempFolder(), models, providerConfig: { baseUrl: 'http://127.0.0.1:1/v1' } };
  const runtime = new CopilotRuntime(options, standIn.load);
  const memory = { get: () => undefined, set: () => {} };
  const { signal } = new AbortController();
  const context = { session: 'ahp-session:/1', chat: 'ahp-chat:/1', workingDirectory: undefined, signal, memory };
  const session = await CopilotSession.open({
    ...{ agent: options, runtime },
    context: { ...context, history: async () => [EARLIER] },
  });
  return { session, standIn };
}

describe('a session that Copilot does not know', () => {
  it('is told to it with the first message that it takes, and not with one that never reached it', async () => {
    const told: (string | undefined)[] = [];
    const takes: Hearing = async ({ hooks, emit }) => {
      told.push((await hooks.onUserPromptSubmitted({}, { sessionId: 's' }))?.additionalContext);
      emit('user.message');
      emit('assistant.message_delta', { deltaContent: 'Yes.' });
      emit('session.idle');
    };
    const lost: Hearing = async () => {
      throw new Error('the pipe is broken');
    };
    const { session } = await openSession([lost, takes, takes]);
    await expect(session.runTurn(new FakeTurn('is it?'))).rejects.toThrow('the pipe is broken');
    const turn = new FakeTurn('once more');
    await session.runTurn(turn);
    await session.runTurn(new FakeTurn('and now?'));
    expect(told).toEqual([expect.stringContaining('Person: which fruit?\nYou: A plum.'), undefined]);
    expect(turn.said).toBe('Yes.');
    await session.close();
  });
});

describe('what Copilot says', () => {
  it('before it has taken a message belongs to no turn', async () => {
    const { session } = await openSession([
      async ({ emit }) => {
        emit('assistant.message_delta', { deltaContent: 'still about the turn before' });
        emit('assistant.reasoning_delta', { deltaContent: 'hm' });
        emit('user.message');
        emit('assistant.message_delta', { deltaContent: 'Yes.' });
        emit('session.idle');
      },
    ]);
    const turn = new FakeTurn('is it?');
    await session.runTurn(turn);
    expect(turn.events.filter((event) => 'text' in event || 'reasoning' in event)).toEqual([{ text: 'Yes.' }]);
    await session.close();
  });
});

describe('a session that is closed', () => {
  it('leaves nothing open in the runtime, also while a cancelled turn was opening it anew', async () => {
    const { session, standIn } = await openSession([]);
    let resumed = () => {};
    standIn.resuming = new Promise((resolve) => {
      resumed = resolve;
    });
    const turn = new FakeTurn('go', { tools: [{ name: 'note', inputSchema: { type: 'object' } }] });
    const running = session.runTurn(turn).catch(() => {});
    await expect.poll(() => standIn.isResuming).toBe(true);
    turn.cancel();
    const closed = session.close();
    resumed();
    await Promise.all([running, closed]);
    expect(standIn.lines.size).toBe(0);
  });
});
