/**
 * What every agent backend promises, as tests through a real host. Whoever writes a backend runs this suite against it:
 * `agentAcceptance({ describe, it, expect }, 'my agent', makeMyAgent)`. The test runner comes in as an argument.
 */
import type { SessionState, StateAction, Turn } from '@atrium/protocol';
import { createHost, type Host } from '../host.js';
import type { ContractApi } from '../log/contract.js';
import { MemoryLog } from '../log/memory-log.js';
import type { HostTool } from '../tools/tool.js';
import { transportPair } from '../wire/transports/in-process.js';
import type { AgentBackend } from './agent.js';

/** One answer of whatever thinks behind the backend. Answers are used up in order, over all turns. */
export interface PlannedAnswer {
  readonly reasoning?: string;
  /** Piece by piece. */
  readonly text?: readonly string[];
  /** A call, whose result the next answer follows. */
  readonly call?: { readonly name: string; readonly input: Readonly<Record<string, string>> };
  readonly usage?: { readonly input: number; readonly output: number };
  /** After what it said, it falls silent for good. */
  readonly hangs?: boolean;
  readonly fails?: PlannedFailure;
}

export const PLANNED_FAILURES = [
  'auth',
  'rate-limited',
  'overloaded',
  'context-overflow',
  'network',
  'model-not-found',
  'other',
] as const;
export type PlannedFailure = (typeof PLANNED_FAILURES)[number];

export interface AgentUnderTest {
  readonly agent: AgentBackend;
  /** All text that was last put to whatever thinks behind the backend. */
  heard?(): string;
  close?(): Promise<void>;
}

export type MakeAgent = (plan: readonly PlannedAnswer[]) => Promise<AgentUnderTest>;

export interface AcceptanceOptions {
  /** What this backend cannot show: tests that look at what it heard, or a way to think aloud. */
  readonly without?: readonly ('heard' | 'reasoning')[];
}

/** How soon a backend must have stopped after a turn was cancelled. */
export const CANCEL_MAX_MS = 1_000;
const WAIT_MAX_MS = 5_000;
const REASON = 'write to the blue file instead';

export function agentAcceptance(
  { describe, it, expect }: ContractApi,
  name: string,
  make: MakeAgent,
  { without = [] }: AcceptanceOptions = {},
): void {
  /** A test with a host around the agent, which is gone afterwards. */
  const inRoom = (plan: readonly PlannedAnswer[], test: (room: Room) => Promise<void>) => async () => {
    const room = await Room.open(await make(plan));
    await test(room).finally(() => room.close());
  };
  const callsNote = { call: { name: 'note', input: { text: 'plums' } } };

  describe(`${name} is an agent`, () => {
    it(
      'streams text as it comes',
      inRoom([{ text: ['Hel', 'lo ', 'there'] }], async (room) => {
        const turn = await room.turn('hello');
        expect([turn.state, textIn(turn)]).toEqual(['complete', 'Hello there']);
        expect(room.types().filter((type) => type === 'session/delta').length > 1).toBe(true);
      }),
    );

    if (!without.includes('reasoning'))
      it(
        'keeps thinking apart from text',
        inRoom([{ reasoning: 'Hm.', text: ['Yes.'] }], async (room) => {
          const { responseParts } = await room.turn('is it?');
          const parts = responseParts.map((part) => [part.kind, 'content' in part ? part.content : '']);
          expect(parts).toEqual([
            ['reasoning', 'Hm.'],
            ['markdown', 'Yes.'],
          ]);
        }),
      );

    it(
      'calls a tool once a person has agreed, and goes on with the result',
      inRoom([callsNote, { text: ['Noted.'] }], async (room) => {
        const turn = await room.turn('note it', approve);
        expect(room.notes).toEqual([{ text: 'plums' }]);
        expect([turn.state, textIn(turn)]).toEqual(['complete', 'Noted.']);
        if (!without.includes('heard')) expect(room.heard().includes('noted under 7')).toBe(true);
      }),
    );

    it(
      'does not call a tool that a person denies, and hears why',
      inRoom([callsNote, { text: ['As you wish.'] }], async (room) => {
        const turn = await room.turn('note it', deny);
        expect(room.notes).toEqual([]);
        expect([turn.state, textIn(turn)]).toEqual(['complete', 'As you wish.']);
        if (!without.includes('heard')) expect(room.heard().includes(REASON)).toBe(true);
      }),
    );

    it(
      `stops within ${CANCEL_MAX_MS} ms of being cancelled, keeps what it said, and takes the next turn`,
      inRoom([{ text: ['so far'], hangs: true }, { text: ['again'] }], async (room) => {
        const turnId = room.begin('go');
        await room.action('session/delta');
        room.dispatch({ type: 'session/turnCancelled', turnId });
        expect(await room.stopsWithin(CANCEL_MAX_MS)).toBe(true);
        const turn = await room.finished(turnId);
        expect([turn.state, textIn(turn)]).toEqual(['cancelled', 'so far']);
        expect(textIn(await room.turn('once more'))).toBe('again');
      }),
    );

    for (const fails of PLANNED_FAILURES)
      it(
        `says that it failed, as "${fails}", and takes the next turn`,
        inRoom([{ fails }, { text: ['again'] }], async (room) => {
          const { state, error } = await room.turn('go');
          expect([state, error?.errorType, error?.message !== '']).toEqual(['error', fails, true]);
          expect(textIn(await room.turn('once more'))).toBe('again');
        }),
      );

    it(
      'tells what a turn has used',
      inRoom([{ text: ['Yes.'], usage: { input: 120, output: 7 } }], async (room) => {
        const { usage } = await room.turn('is it?');
        expect([usage?.inputTokens, usage?.outputTokens]).toEqual([120, 7]);
      }),
    );

    if (without.includes('heard')) return;

    it(
      'remembers a session after the host was started anew',
      inRoom([callsNote, { text: ['It is a plum.'] }, { text: ['A plum.'] }], async (room) => {
        await room.turn('which fruit?', approve);
        await room.restart();
        expect(textIn(await room.turn('which was it?'))).toBe('A plum.');
        const missing = ['which fruit?', 'noted under 7', 'It is a plum.'].filter(
          (text) => !room.heard().includes(text),
        );
        expect(missing).toEqual([]);
      }),
    );

    it(
      'puts every section that it declares to whatever thinks',
      inRoom([{ text: ['Yes.'] }], async (room) => {
        await room.turn('is it?');
        const texts = Object.values(room.agent.sections);
        expect(texts.filter((text) => !room.heard().includes(text))).toEqual([]);
        expect(room.agent.abilities.render !== 'sections' || texts.length > 0).toBe(true);
      }),
    );
  });
}

function textIn({ responseParts }: Turn): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? part.content : [])).join('');
}

/** Outlives the host that uses it. */
class KeptLog extends MemoryLog {
  override async close(): Promise<void> {}
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly snapshot?: { readonly state: SessionState } };
  readonly error?: { readonly message: string };
  readonly params?: { readonly channel: string; readonly action?: Record<string, unknown> & { type: string } };
}

type Action = StateAction | (Record<string, unknown> & { type: string });
type Answer = (toolCallId: string, turnId: string) => Action;

const CONFIRMED = 'session/toolCallConfirmed';

const approve: Answer = (toolCallId, turnId) => {
  return { type: CONFIRMED, turnId, toolCallId, approved: true, confirmed: 'user-action' };
};

const deny: Answer = (toolCallId, turnId) => {
  const userSuggestion = { text: REASON };
  return { type: CONFIRMED, turnId, toolCallId, approved: false, reason: 'denied', userSuggestion };
};

/** One person, one session and the agent, with a host between them. */
class Room {
  readonly notes: unknown[] = [];
  readonly #log = new KeptLog();
  readonly #uri = 'ahp-session:/acceptance';
  #host: Host | undefined;
  #running: Promise<unknown> = Promise.resolve();
  #received: Message[] = [];
  #send: (message: object) => void = () => {};
  #look: () => void = () => {};
  #numbers = 0;

  private constructor(private readonly subject: AgentUnderTest) {}

  static async open(subject: AgentUnderTest): Promise<Room> {
    const room = new Room(subject);
    await room.#start();
    await room.#request('createSession', { channel: room.#uri, provider: room.agent.info.provider });
    await room.#request('subscribe', { channel: room.#uri });
    return room;
  }

  get agent(): AgentBackend {
    return this.subject.agent;
  }

  heard(): string {
    return this.subject.heard?.() ?? '';
  }

  types(): string[] {
    return this.#received.flatMap(({ params }) => params?.action?.type ?? []);
  }

  /** One turn, from the message to its end. A tool call that asks gets the answer. */
  async turn(text: string, answer?: Answer): Promise<Turn> {
    const turnId = this.begin(text);
    if (answer) {
      const { params } = await this.action('session/toolCallReady');
      this.dispatch(answer(String(params?.action?.toolCallId), turnId));
    }
    return this.finished(turnId);
  }

  begin(text: string): string {
    const turnId = `t-${crypto.randomUUID()}`;
    this.dispatch({ type: 'session/turnStarted', turnId, userMessage: { text } });
    return turnId;
  }

  async finished(turnId: string): Promise<Turn> {
    const ends = ['session/turnComplete', 'session/turnCancelled', 'session/error'];
    await this.#until(({ params }) => params?.action?.turnId === turnId && ends.includes(params.action.type));
    const { result } = await this.#request('subscribe', { channel: this.#uri });
    const found = result?.snapshot?.state.turns.find(({ id }) => id === turnId);
    if (!found) throw new Error(`the turn ${turnId} is not in the state`);
    return found;
  }

  dispatch(action: Action): void {
    this.#send({ method: 'dispatchAction', params: { channel: this.#uri, clientSeq: ++this.#numbers, action } });
  }

  action(type: string): Promise<Message> {
    return this.#until(({ params }) => params?.action?.type === type);
  }

  async stopsWithin(milliseconds: number): Promise<boolean> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), milliseconds);
    });
    const stopped = this.#running.then(
      () => true,
      () => true,
    );
    return Promise.race([stopped, late]).finally(() => clearTimeout(timer));
  }

  async restart(): Promise<void> {
    await this.#host?.stop();
    await this.#start();
    await this.#request('subscribe', { channel: this.#uri });
  }

  async close(): Promise<void> {
    await this.#host?.stop();
    await this.subject.close?.();
  }

  async #start(): Promise<void> {
    const host = await createHost({ log: this.#log, agents: [this.#watched()], tools: [this.#noteTool()] });
    const [transport, client] = transportPair();
    this.#host = host;
    this.#received = [];
    client.onmessage = (text) => {
      this.#received.push(JSON.parse(text));
      this.#look();
    };
    this.#send = (message) => client.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    host.connect(transport);
    const hello = { protocolVersions: ['0.3.0'], clientId: `person-${crypto.randomUUID()}` };
    await this.#request('initialize', { channel: 'ahp-root://', ...hello });
  }

  /** The same agent, with an eye on when it stops. */
  #watched(): AgentBackend {
    const { info, abilities, sections } = this.agent;
    return {
      info,
      abilities,
      sections,
      open: async (context) => {
        const session = await this.agent.open(context);
        return {
          runTurn: (turn) => {
            const running = session.runTurn(turn);
            this.#running = running;
            return running;
          },
          truncated: async (turnId) => session.truncated?.(turnId),
          close: () => session.close(),
        };
      },
    };
  }

  #noteTool(): HostTool {
    const properties = { text: { type: 'string' } };
    return {
      definition: { name: 'note', description: 'Notes a text.', inputSchema: { type: 'object', properties } },
      displayName: 'Note',
      invocationMessage: () => 'Note something',
      confirmation: () => ({ title: 'Note it?' }),
      run: async (input) => {
        this.notes.push(input);
        const content = [{ type: 'text' as const, text: 'noted under 7' }];
        return { success: true, pastTenseMessage: 'Noted something', content };
      },
    };
  }

  async #request(method: string, params: object): Promise<Message> {
    const id = ++this.#numbers;
    this.#send({ id, method, params });
    const answer = await this.#until((message) => message.id === id);
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer;
  }

  /** Waits for a message, past or future. */
  async #until(test: (message: Message) => boolean): Promise<Message> {
    const signal = AbortSignal.timeout(WAIT_MAX_MS);
    for (;;) {
      const found = this.#received.find(test);
      if (found) return found;
      await new Promise<void>((resolve, reject) => {
        this.#look = resolve;
        signal.addEventListener('abort', () => reject(new Error(`waited in vain; came: ${this.types().join(', ')}`)));
      });
    }
  }
}
