/** What lives beside a session as long as it is in memory: the gateway, customizations, services. */
import type { ChatState, SessionState, UsageInfo } from '@atrium/protocol/ahp-1';
import type { Step } from '../channels/channel.js';
import type { Logger } from '../util/logger.js';
import type { Chat } from './chat.js';
import type { Session } from './session.js';

/** A step of one of the chats of a session. */
export interface ChatStep extends Step<ChatState> {
  readonly chat: Chat;
}

/** A step of the session's own channel, or of one of its chats. */
export type SessionStep = (Step<SessionState> & { readonly chat?: undefined }) | ChatStep;

/** Tells people who wait for the session what is being done. */
export type Report = (message: string) => void;

export interface SessionObserver {
  /** It still needs the session: it must not leave memory. */
  readonly keepsAwake?: boolean;
  /** Makes the folder of the session ready; everything else begins after it. Throws when it cannot be done. */
  prepareFolder?(report: Report): Promise<void>;
  /** The session is about to be used: its agent opens next, and waits for this. Said again after a rest. */
  begin?(report: Report): Promise<void>;
  /** The session rests: processes that belong to it end, and what they offered stays listed. Resolves when they are gone. */
  rest?(): Promise<void>;
  /** An action was taken, in this very tick. May write actions of its own. */
  observe?(step: SessionStep): void;
  /** The agent's model was asked something beside the turns, such as for a title. */
  spent?(usage: UsageInfo): void;
  /** Something that the host wrote here could not be stored: what still should be so has to be written again. */
  lost?(): void;
  /** The session leaves memory, or ends. */
  close(): Promise<void>;
}

/** Called when a session enters memory. */
export type AttachObserver = (session: Session) => SessionObserver;

/** All that lives beside one session, together. */
export class SessionObservers {
  constructor(
    private readonly all: readonly SessionObserver[],
    private readonly logger: Logger,
  ) {}

  spent(usage: UsageInfo): void {
    for (const observer of this.all) observer.spent?.(usage);
  }

  /** Whether one of them still needs the session. */
  get keepAwake(): boolean {
    return this.all.some(({ keepsAwake }) => keepsAwake);
  }

  /** Makes the folder of the session ready. What comes next may depend on it, so a failure is one of the session. */
  async prepareFolder(report: Report): Promise<void> {
    for (const observer of this.all) await observer.prepareFolder?.(report);
  }

  /** How many have to get ready. */
  get count(): number {
    return this.all.length;
  }

  /** `ready`: one more of them is. */
  async begin(report: Report, ready: () => void): Promise<void> {
    await Promise.all(
      this.all.map(async (observer) => {
        await observer.begin?.(report);
        ready();
      }),
    );
  }

  /** The action is taken already. A fault of one of them is not one of the client that sent it, nor of the others. */
  observe(step: SessionStep): void {
    for (const observer of this.all) {
      try {
        observer.observe?.(step);
      } catch (error) {
        const { type } = step.action;
        this.logger.log('error', 'something beside a session failed', { action: type, error: String(error) });
      }
    }
  }

  lost(): void {
    for (const observer of this.all) observer.lost?.();
  }

  rest(): Promise<void> {
    return this.#toAll((observer) => observer.rest?.());
  }

  close(): Promise<void> {
    return this.#toAll((observer) => observer.close());
  }

  async #toAll(end: (observer: SessionObserver) => Promise<void> | undefined): Promise<void> {
    const ended = await Promise.allSettled(this.all.map(async (observer) => end(observer)));
    for (const outcome of ended) {
      if (outcome.status === 'rejected')
        this.logger.log('warn', 'something beside a session could not be closed', { error: String(outcome.reason) });
    }
  }
}
