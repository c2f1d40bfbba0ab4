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

/** Clients of the oldest wire cannot be asked. Without other clients, the turn would wait for ever. */
function cancelUnanswerable(
  turn: TurnRunner,
  options: Pick<ChatOptions, 'clock' | 'watchers'>,
  requestId: string,
): void {
  options.clock.after(CLIENT_GRACE_MS, () => {
    if (!turn.isActive || !openRequestIn(turn.chat.state, requestId)) return;
    if (options.watchers.mayBeAnswered(turn.chat.session.uri)) return cancelUnanswerable(turn, options, requestId);
    turn.write({ type: 'chat/inputCompleted', requestId, response: 'cancel' });
  });
}

type Answered = (response: ChatInputResponseKind, answers: InputOutcome['answers']) => void;

export interface StandingRequestsOptions {
  /** The chat that people answer on. */
  readonly chat: Chat;
  write(action: SessionAction): void;
  state(): SessionState;
  /** Whether a subscriber cannot be asked questions. */
  isNoteNeeded(): boolean;
}

export interface AskOptions {
  /** For those who cannot be asked; absent: the message of the request. */
  readonly note?: string;
  /** Who may answer. Most of these questions are about trust or money, so that only the owner may unless it is said. */
  readonly least?: Role;
}

interface Standing {
  request: ChatInputRequest;
  readonly answered: Answered;
  /** For those who cannot be asked. */
  readonly note: string;
  readonly least: Role;
  isNoted: boolean;
}

/** Older wires know it from the action of the chat, and get nothing more. */
const KNOWN = { [PRIVATE]: { shown: true } };

/**
 * Questions to the people in a session that are not part of a turn: entries of `inputNeeded` that no part of an answer holds.
 * Wires that end all open questions with a turn are told again behind it. Clients that cannot show questions get a note in
 * the turn instead. The model does not see that note.
 */
export class StandingRequests {
  readonly #options: StandingRequestsOptions;
  readonly #open = new Map<string, Standing>();

  constructor(options: StandingRequestsOptions) {
    this.#options = options;
  }

  /** Asking again under the same id changes the question. The returned function takes it back. */
  ask(request: ChatInputRequest, answered: Answered, { note, least = 'owner' }: AskOptions = {}): () => void {
    const standing = { request, answered, note: note ?? request.message ?? '', least, isNoted: false };
    this.#open.set(request.id, standing);
    this.#set(request);
    this.#tellOthers(standing);
    return () => {
      if (this.#open.get(request.id) !== standing) return;
      this.#open.delete(request.id);
      this.#remove(request.id);
    };
  }

  /** Who may answer a question; undefined when none of these is open under this id. */
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

  /** Looks at every action of a chat: one may be an answer, or have ended a turn. */
  observe({ chat, action, before, after }: ChatStep): void {
    if (chat.uri !== this.#options.chat.uri) return;
    this.#heard(action, before);
    if (action.type === 'chat/turnStarted') for (const standing of this.#open.values()) this.#tellOthers(standing);
    const isTurnOver = before.activeTurn !== undefined && before.activeTurn.id !== after.activeTurn?.id;
    if (isTurnOver) for (const { request } of this.#open.values()) this.#set(request);
  }

  /** When a session enters memory, no task waits any more for the answers to earlier questions. */
  withdrawStale(): void {
    for (const entry of this.#options.state().inputNeeded ?? []) {
      const isOurs = entry.kind === 'chatInput' && standingRequest(this.#options.state(), entry.request.id);
      if (isOurs && !this.#open.has(entry.request.id)) this.#remove(entry.request.id);
    }
  }

  /** What the host wrote could not be stored. The list has again what is asked, and nothing else of ours. */
  lost(): void {
    this.withdrawStale();
    for (const { request } of this.#open.values()) {
      if (!standingRequest(this.#options.state(), request.id)) this.#set(request);
    }
  }

  /** An answer to a question of a turn is none to ours, whatever id an agent gave to its own. */
  #heard(action: ChatStep['action'], before: ChatState): void {
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

  /** Within a turn at once, otherwise at the head of the next one. */
  #tellOthers(standing: Standing): void {
    const { chat } = this.#options;
    const turnId = chat.state.activeTurn?.id;
    if (standing.isNoted || turnId === undefined || !this.#options.isNoteNeeded()) return;
    standing.isNoted = true;
    const part = { kind: 'systemNotification' as const, content: standing.note };
    chat.write({ type: 'chat/responsePart', turnId, part });
  }
}
