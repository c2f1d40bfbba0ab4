/** Questions to people: those of a turn, and those that outlive turns. */
import {
  type ChatInputRequest,
  type ChatInputResponseKind,
  type ChatState,
  PRIVATE,
  type Role,
  type SessionAction,
  type SessionState,
  standingEntry,
} from '@atrium/protocol/ahp-1';
import type { InputOutcome } from '../contracts/agent.js';
import type { Chat, ChatOptions } from './chat.js';
import { openRequestIn } from './chat-rules.js';
import { standingRequest } from './input-needed.js';
import { CLIENT_GRACE_MS } from './limits.js';
import type { ChatStep } from './session-observer.js';
import type { TurnRunner } from './turn.js';
import { NO_CALL } from './waiters.js';

export async function askPerson(
  turn: TurnRunner,
  options: Pick<ChatOptions, 'clock' | 'watchers'>,
  request: ChatInputRequest,
): Promise<InputOutcome> {
  turn.interrupt();
  turn.write({ type: 'chat/inputRequested', request });
  cancelUnanswerable(turn, options, request.id);
  return turn.waitFor([NO_CALL], (_state, step) => {
    const action = step?.action;
    if (action?.type !== 'chat/inputCompleted' || action.requestId !== request.id) return undefined;
    const drafts = step && openRequestIn(step.before, request.id)?.answers;
    return { response: action.response, answers: { ...drafts, ...action.answers } };
  });
}

/** Cancels a question if all clients use the oldest wire, which cannot show it: the turn would wait forever. */
function cancelUnanswerable(
  turn: TurnRunner,
  options: Pick<ChatOptions, 'clock' | 'watchers'>,
  requestId: string,
): void {
  options.clock.after(CLIENT_GRACE_MS, () => {
    if (!turn.isActive || !openRequestIn(turn.chat.state, requestId)) return;
    if (options.watchers.canBeAnswered(turn.chat.session.uri)) return cancelUnanswerable(turn, options, requestId);
    turn.write({ type: 'chat/inputCompleted', requestId, response: 'cancel' });
  });
}

type Answered = (response: ChatInputResponseKind, answers: InputOutcome['answers']) => void;

export interface StandingRequestsOptions {
  /** The chat on which people answer. */
  readonly chat: Chat;
  write(action: SessionAction): void;
  state(): SessionState;
  /** True when a subscriber cannot be shown questions. */
  isNoteNeeded(): boolean;
}

export interface AskOptions {
  /** Note for clients that cannot be asked; absent: the message of the request. */
  readonly note?: string;
  /** Least role that may answer. Most of these questions are about trust or money, so the owner is the default. */
  readonly least?: Role;
}

interface Standing {
  request: ChatInputRequest;
  readonly answered: Answered;
  /** Note for clients that cannot be asked. */
  readonly note: string;
  readonly least: Role;
  isNoted: boolean;
}

/** Older wires learn it from the chat's action, and get no second message. */
const KNOWN = { [PRIVATE]: { shown: true } };

/**
 * Questions to the people in a session that belong to no turn: entries of `inputNeeded` outside of any answer. Wires
 * that close all open questions at the end of a turn get them again afterwards. Clients that cannot show questions get
 * a note in the turn instead, which the model does not see.
 */
export class StandingRequests {
  readonly #options: StandingRequestsOptions;
  readonly #open = new Map<string, Standing>();

  constructor(options: StandingRequestsOptions) {
    this.#options = options;
  }

  /** Asks a question; asking again under the same id changes it. The returned function withdraws it. */
  ask(request: ChatInputRequest, answered: Answered, { note, least = 'owner' }: AskOptions = {}): () => void {
    const standing = { request, answered, note: note ?? request.message ?? '', least, isNoted: false };
    this.#open.set(request.id, standing);
    this.#set(request);
    this.#notifyOthers(standing);
    return () => {
      if (this.#open.get(request.id) !== standing) return;
      this.#open.delete(request.id);
      this.#remove(request.id);
    };
  }

  /** The least role that may answer; undefined when no such question is open under this id. */
  leastFor(requestId: string): Role | undefined {
    return this.#open.get(requestId)?.least;
  }

  #set(request: ChatInputRequest, known = {}): void {
    const entry = standingEntry(this.#options.chat.uri, request);
    this.#options.write({ type: 'session/inputNeededSet', request: entry, ...known });
  }

  #remove(requestId: string, known = {}): void {
    const { id } = standingEntry(this.#options.chat.uri, { id: requestId });
    this.#options.write({ type: 'session/inputNeededRemoved', id, ...known });
  }

  /** Looks at every action of a chat: it may be an answer, or end a turn. */
  observe({ chat, action, before, after }: ChatStep): void {
    if (chat.uri !== this.#options.chat.uri) return;
    this.#recordAnswer(action, before);
    if (action.type === 'chat/turnStarted') for (const standing of this.#open.values()) this.#notifyOthers(standing);
    const isTurnOver = before.activeTurn !== undefined && before.activeTurn.id !== after.activeTurn?.id;
    if (isTurnOver) for (const { request } of this.#open.values()) this.#set(request);
  }

  /** Removes questions whose answer nothing waits for any more, when a session enters memory. */
  withdrawStale(): void {
    for (const entry of this.#options.state().inputNeeded ?? []) {
      const isOurs = entry.kind === 'chatInput' && standingRequest(this.#options.state(), entry.request.id);
      if (isOurs && !this.#open.has(entry.request.id)) this.#remove(entry.request.id);
    }
  }

  /** Restores the list of open questions after writes of the host could not be stored. */
  lost(): void {
    this.withdrawStale();
    for (const { request } of this.#open.values()) {
      if (!standingRequest(this.#options.state(), request.id)) this.#set(request);
    }
  }

  /** Handles an answer. An answer to a question of a turn does not count here, even if an agent chose the same id. */
  #recordAnswer(action: ChatStep['action'], before: ChatState): void {
    if (action.type !== 'chat/inputAnswerChanged' && action.type !== 'chat/inputCompleted') return;
    const { requestId } = action;
    if (openRequestIn(before, requestId)) return;
    if (action.type === 'chat/inputCompleted') this.#answered(requestId, action.response, action.answers);
    else this.#drafted(requestId, action.questionId, action.answer);
  }

  #drafted(requestId: string, questionId: string, answer: unknown): void {
    const request = standingRequest(this.#options.state(), requestId);
    if (!request) return;
    const { [questionId]: _before, ...others } = request.answers ?? {};
    const answers = answer === undefined ? others : { ...others, [questionId]: answer };
    const { answers: _drafts, ...question } = request;
    const drafted = (Object.keys(answers).length > 0 ? { ...question, answers } : question) as ChatInputRequest;
    const standing = this.#open.get(requestId);
    if (standing) standing.request = drafted;
    this.#set(drafted, KNOWN);
  }

  #answered(requestId: string, response: ChatInputResponseKind, answers: InputOutcome['answers'] | undefined): void {
    const request = standingRequest(this.#options.state(), requestId);
    if (!request) return;
    this.#remove(requestId, KNOWN);
    const standing = this.#open.get(requestId);
    this.#open.delete(requestId);
    standing?.answered(response, { ...request.answers, ...answers });
  }

  /** Puts the note into the running turn, or at the start of the next one. */
  #notifyOthers(standing: Standing): void {
    const { chat } = this.#options;
    const turnId = chat.state.activeTurn?.id;
    if (standing.isNoted || turnId === undefined || !this.#options.isNoteNeeded()) return;
    standing.isNoted = true;
    const part = { kind: 'systemNotification' as const, content: standing.note };
    chat.write({ type: 'chat/responsePart', turnId, part });
  }
}
