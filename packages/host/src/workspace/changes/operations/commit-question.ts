/** Asks the people in a session for the words of a commit: the protocol has no place for them in the operation itself. */
import type { SessionState } from '@atrium/protocol';
import type { Step } from '../../../core/channels/channel.js';
import type { Session } from '../../../core/sessions/session.js';
import { COMMIT_MESSAGE_MAX_CHARACTERS } from '../limits.js';

const QUESTION = 'message';

export class CommitQuestion {
  readonly #id = `commit-${crypto.randomUUID()}`;
  #then: ((message: string) => void) | undefined;
  #withdraw = () => {};

  constructor(private readonly session: Session) {}

  get isOpen(): boolean {
    return this.#then !== undefined;
  }

  /** Asked again, it is the same question. */
  ask(what: string, then: (message: string) => void): void {
    this.#then = then;
    const question = {
      id: QUESTION,
      kind: 'text' as const,
      message: 'Commit message',
      required: true,
      max: COMMIT_MESSAGE_MAX_CHARACTERS,
      defaultValue: this.session.state.summary.title,
    };
    const request = { id: this.#id, message: what, questions: [question] };
    const note = `${what} This client cannot answer: use a newer one, or commit in a terminal.`;
    this.#withdraw = this.session.standing.ask(request, () => {}, note);
  }

  /** The answer is in the action; whoever stands behind the question is only told that there was one. */
  observe({ envelope: { action }, before }: Step<SessionState>): void {
    if (action.type !== 'session/inputCompleted' || action.requestId !== this.#id) return;
    const then = this.#then;
    this.#then = undefined;
    const drafts = before.inputRequests?.find(({ id }) => id === this.#id)?.answers;
    const answer = { ...drafts, ...action.answers }[QUESTION];
    const isGiven = action.response === 'accept' && answer?.state === 'submitted' && answer.value.kind === 'text';
    const message = isGiven ? String(answer.value.value).trim() : '';
    if (message !== '') then?.(message.slice(0, COMMIT_MESSAGE_MAX_CHARACTERS));
  }

  close(): void {
    this.#then = undefined;
    this.#withdraw();
  }
}
