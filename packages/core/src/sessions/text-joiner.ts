/**
 * Joins text on its way from an agent to the log. Each action of a chat is stored and sent to every client, whatever
 * its size, so text that comes quickly is joined first: always within a tick, and, while many clients watch, also
 * within a time window. Waiting text has been neither shown nor stored: a host that is killed loses that much and no
 * more.
 */
import type { ChatAction } from '@atrium/protocol/ahp-1';
import type { Writer } from '../channels/writer.js';
import type { Audience } from '../contracts/ports.js';
import type { Clock } from '../util/clock.js';
import { TEXT_WAITING_MAX_CHARACTERS, TEXT_WINDOWS } from './limits.js';

/** How long text of a chat waits for more. */
export function textWindowMs({ count, maxDelayMs = Number.POSITIVE_INFINITY }: Audience): number {
  const { milliseconds } = TEXT_WINDOWS.find(({ watchers }) => count >= watchers) ?? { milliseconds: 0 };
  return Math.min(milliseconds, maxDelayMs);
}

export interface TextWindowOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly writer: Pick<Writer, 'atEndOfTick'>;
  /** Who watches the chat now. */
  audience(): Audience;
  write(action: ChatAction): void;
}

export class TextJoiner {
  readonly #options: TextWindowOptions;
  #waiting: ChatAction | undefined;
  #isForThisTick = false;
  /** Closes the window early; absent while none is open. */
  #shut: (() => void) | undefined;

  constructor(options: TextWindowOptions) {
    this.#options = options;
  }

  /**
   * Takes a piece of text. The first piece after a silence goes out with its tick, and opens a window for those that
   * follow.
   */
  take(action: ChatAction): void {
    const joined = this.#waiting && joinedAction(this.#waiting, action);
    if (this.#waiting && !joined) this.flush();
    this.#waiting = joined ?? action;
    if (sizeOf(this.#waiting) >= TEXT_WAITING_MAX_CHARACTERS) this.#write();
    else if (!this.#shut) this.#goWithTick();
  }

  /** Writes waiting text before something else is written. Text that comes next goes out in the same tick. */
  flush(): void {
    this.#shut?.();
    this.#shut = undefined;
    this.#write();
  }

  #goWithTick(): void {
    if (this.#isForThisTick) return;
    this.#isForThisTick = true;
    this.#options.writer.atEndOfTick(() => {
      this.#isForThisTick = false;
      if (!this.#shut) this.#writeAndOpen();
    });
  }

  #writeAndOpen(): void {
    if (!this.#waiting) return;
    this.#write();
    const { clock, audience } = this.#options;
    const milliseconds = textWindowMs(audience());
    if (milliseconds === 0) return;
    this.#shut = clock.after(milliseconds, () => {
      this.#shut = undefined;
      this.#writeAndOpen();
    });
  }

  #write(): void {
    const action = this.#waiting;
    this.#waiting = undefined;
    if (action) this.#options.write(action);
  }
}

/** True for actions that only add to what an agent says: text, thinking, input of a call, or newer output of a call. */
export function isJoinable(action: ChatAction): boolean {
  switch (action.type) {
    case 'chat/delta':
    case 'chat/reasoning':
    case 'chat/toolCallContentChanged':
      return true;
    case 'chat/toolCallDelta':
      return action.content !== undefined && action.invocationMessage === undefined;
    default:
      return false;
  }
}

/** One action with the effect of two in a row; undefined when there is none. */
export function joinedAction(first: ChatAction, next: ChatAction): ChatAction | undefined {
  switch (next.type) {
    case 'chat/delta':
    case 'chat/reasoning':
      if (first.type !== next.type || first.partId !== next.partId) return undefined;
      return { ...first, content: first.content + next.content };
    case 'chat/toolCallDelta':
      if (first.type !== next.type || first.toolCallId !== next.toolCallId) return undefined;
      return { ...first, content: `${first.content ?? ''}${next.content ?? ''}` };
    case 'chat/toolCallContentChanged':
      // The newer content replaces all that was shown before.
      return first.type === next.type && first.toolCallId === next.toolCallId ? next : undefined;
    default:
      return undefined;
  }
}

function sizeOf(action: ChatAction): number {
  return 'content' in action && typeof action.content === 'string' ? action.content.length : 0;
}
