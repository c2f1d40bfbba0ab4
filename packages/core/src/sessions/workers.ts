/**
 * Workers: agents that a tool call starts. Each has a chat of its own, in which people can read and answer questions,
 * but not write. It has one turn. The worker ends with the call that started it: when the call ends, so does the
 * worker's turn.
 */
import { type Turn, workerChatUri } from '@atrium/protocol/ahp-1';
import { STORE_RETRY_MS } from '../channels/limits.js';
import type { AgentSession, OpenWorker, WorkerOutcome, WorkerStart } from '../contracts/agent.js';
import { ToolFailure } from '../contracts/tool.js';
import type { Chat, ChatOptions } from './chat.js';
import { SESSION_CHATS_MAX, TURN_WORKERS_MAX, WORKER_DEPTH_MAX, WORKERS_AT_ONCE_MAX } from './limits.js';
import type { Session } from './session.js';
import type { TurnRunner } from './turn.js';
import { TurnOverError } from './waiters.js';

/** The advice that a worker gets beside its task. */
export const WORKER_ADVICE =
  'You work for another agent, not for a person. It gets nothing of what you do but the last thing that you say: ' +
  'end with a whole answer to your task.';

/** How many workers are between a chat and a person, up to the limit: chats from elsewhere may claim any origin. */
export function workerDepth(chat: Chat): number {
  let depth = 0;
  for (let at: Chat | undefined = chat; at && isWorker(at) && depth < WORKER_DEPTH_MAX; at = parentOf(at)) depth += 1;
  return depth;
}

export function isWorker({ state: { origin } }: Pick<Chat, 'state'>): boolean {
  return origin?.kind === 'tool';
}

/** The chat whose tool call opened this one. */
export function parentOf({ session, state: { origin } }: Chat): Chat | undefined {
  return origin?.kind === 'tool' && 'chat' in origin ? session.chatAt(String(origin.chat)) : undefined;
}

/** Opens the workers of one turn. */
export class TurnWorkers {
  readonly #turn: TurnRunner;
  readonly #options: ChatOptions;
  #count = 0;

  constructor(turn: TurnRunner, options: ChatOptions) {
    this.#turn = turn;
    this.#options = options;
  }

  /** Opens the chat of a worker and starts its turn. Throws a `ToolFailure` when there are too many workers. */
  open(start: WorkerStart): OpenWorker {
    this.#turn.signal.throwIfAborted();
    // The turn's end is decided, and the agent is told once it is stored. Until then, it shows and starts nothing.
    if (!this.#turn.isActive) throw new TurnOverError();
    const { chat: parent, startedBy } = this.#turn;
    this.#check(parent);
    this.#count += 1;
    const chat = this.#chat(parent, start);
    const { model, agent } = this.#turn;
    const message = {
      text: start.prompt,
      origin: { kind: 'agent' as const },
      ...(model && { model }),
      ...(agent && { agent }),
    };
    const turnId = chat.start(message, startedBy);
    return { chat: chat.uri, ended: this.#ended(chat, turnId, start.signal) };
  }

  #check(parent: Chat): void {
    if (workerDepth(parent) >= WORKER_DEPTH_MAX)
      throw new ToolFailure('TOO_DEEP', 'A worker of a worker cannot start others. Do it yourself.');
    const { uri, state } = parent.session;
    const isAsked = state.config?.values.autoApprove !== true;
    if (isAsked && !this.#options.watchers.canShowChats(uri))
      throw new ToolFailure('UNSEEN', 'The people here could not see what a worker asks them. Do it yourself.');
    if (this.#count >= TURN_WORKERS_MAX)
      throw new ToolFailure('TOO_MANY', `This turn has started ${TURN_WORKERS_MAX} workers already. Do it yourself.`);
    const running = parent.session.chats.filter((chat) => isWorker(chat) && chat.state.activeTurn).length;
    if (running >= WORKERS_AT_ONCE_MAX)
      throw new ToolFailure('TOO_MANY', `${running} workers are running already. Wait until one of them is done.`);
  }

  #chat({ session, uri: parent }: Chat, { toolCallId, title, tools, run }: WorkerStart): Chat {
    const { workerChats, catalogue } = this.#options;
    if (session.chats.length >= SESSION_CHATS_MAX) this.#makeRoom(session);
    const origin = { kind: 'tool' as const, chat: parent, toolCallId };
    const agent: AgentSession | undefined = run && { runTurn: run, close: async () => {} };
    const worker = { ...(agent && { agent }), ...(tools && { tools: new Set(tools) }) };
    const uri = freeUri(workerChatUri(session.uri, toolCallId), (name) => catalogue.chats.has(name));
    return workerChats.open(session, { uri, origin, title }, { worker });
  }

  /** Forgets the worker that ended first: the result of its call holds what it said. */
  #makeRoom(session: Session): void {
    const oldest = session.chats.find((chat) => isWorker(chat) && !chat.state.activeTurn);
    if (!oldest) throw new ToolFailure('TOO_MANY', 'The session has as many chats as it may have. Do it yourself.');
    const { workerChats, logger } = this.#options;
    workerChats.remove(session, oldest).catch((error) => {
      logger.log('warn', 'the chat of a worker could not be forgotten', { chat: oldest.uri, error: String(error) });
    });
  }

  /** Waits for the end of the worker's turn. If the call or its own turn ends first, the worker's turn is cancelled. */
  async #ended(chat: Chat, turnId: string, call: AbortSignal | undefined): Promise<WorkerOutcome> {
    const signal = call ? AbortSignal.any([this.#turn.signal, call]) : this.#turn.signal;
    const { writer, clock } = this.#options;
    // If the cancellation cannot be stored, it is tried again: a worker must not outlive its call.
    const cancel = (): void => {
      if (chat.isClosed || chat.state.activeTurn?.id !== turnId) return;
      chat.write({ type: 'chat/turnCancelled', turnId, duration: 0 });
      writer.afterFailure(() => clock.after(STORE_RETRY_MS, cancel));
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel);
    try {
      return outcomeOf(chat.uri, await chat.turnEnd(turnId));
    } finally {
      signal.removeEventListener('abort', cancel);
      void chat.closeAgent();
    }
  }
}

/**
 * A free URI. Ids of calls are unique only within a turn, and the URI of a chat that is being forgotten is not free
 * yet.
 */
function freeUri(uri: string, isTaken: (uri: string) => boolean): string {
  for (let number = 2; ; number++) {
    const free = number === 2 ? uri : `${uri}~${number - 1}`;
    if (!isTaken(free)) return free;
  }
}

function outcomeOf(chat: string, turn: Turn | undefined): WorkerOutcome {
  const parts = turn?.responseParts ?? [];
  const end = parts.findLastIndex(({ kind }) => kind === 'toolCall' || kind === 'inputRequest');
  const spoken = (from: number) =>
    parts.slice(from).flatMap((part) => (part.kind === 'markdown' && part.content !== '' ? part.content : []));
  // If the agent said nothing after its last call or question, it gave its answer before that.
  const text = (spoken(end + 1).length > 0 ? spoken(end + 1) : spoken(0)).join('\n\n');
  const last = parts.at(-1);
  const error = last?.kind === 'error' ? { error: last.error.message } : {};
  return { chat, state: turn?.state ?? 'cancelled', text, ...error };
}
