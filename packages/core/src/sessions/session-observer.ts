/** Parts of the host that follow a session while it is in memory: the gateway, customizations, services. */
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

/** Tells the people who wait for the session what is being done. */
export type Report = (message: string) => void;

export interface SessionObserver {
  /** True while the observer needs the session, so that it must not leave memory. */
  readonly keepsAwake?: boolean;
  /** Prepares the session's folder, before anything else begins. Throws when that fails. */
  prepareFolder?(report: Report): Promise<void>;
  /** Prepares for use. The session's agent opens after this. Called again after a rest. */
  begin?(report: Report): Promise<void>;
  /** Ends processes of a resting session; what they offered stays listed. Resolves when they have ended. */
  suspend?(): Promise<void>;
  /** Called for every accepted action but text, in the same tick. May write actions of its own. */
  observe?(step: SessionStep): void;
  /** Called for text and reasoning of an agent: most actions are that, and hardly any observer looks at it. */
  textAdded?(step: ChatStep): void;
  /** Called when the agent's model was used outside of turns, as for a title. */
  spent?(usage: UsageInfo): void;
  /** Called when a write of the host could not be stored: write again what should still be there. */
  lost?(): void;
  /** Called when the session leaves memory or ends. */
  close(): Promise<void>;
}

/** Called when a session enters memory. */
export type AttachObserver = (session: Session) => SessionObserver;

/** All observers of one session. */
export class SessionObservers {
  /** Observers that are called for text. */
  readonly #listeners: readonly SessionObserver[];

  constructor(
    private readonly all: readonly SessionObserver[],
    private readonly logger: Logger,
  ) {
    this.#listeners = all.filter(({ textAdded }) => textAdded);
  }

  spent(usage: UsageInfo): void {
    for (const observer of this.all) observer.spent?.(usage);
  }

  /** True when an observer still needs the session. */
  get keepAwake(): boolean {
    return this.all.some(({ keepsAwake }) => keepsAwake);
  }

  /** Prepares the session's folder. Later steps may depend on it, so its failure fails the session. */
  async prepareFolder(report: Report): Promise<void> {
    for (const observer of this.all) await observer.prepareFolder?.(report);
  }

  /** The number of observers that have to get ready. */
  get count(): number {
    return this.all.length;
  }

  /** Begins all observers; `ready` is called for each one that is ready. */
  async begin(report: Report, ready: () => void): Promise<void> {
    await Promise.all(
      this.all.map(async (observer) => {
        await observer.begin?.(report);
        ready();
      }),
    );
  }

  /**
   * Passes an accepted action on. An observer that throws must not affect the client that sent the action, or other
   * observers.
   */
  observe(step: SessionStep): void {
    for (const observer of this.all) {
      try {
        observer.observe?.(step);
      } catch (error) {
        this.#failed(step, error);
      }
    }
  }

  textAdded(step: ChatStep): void {
    for (const observer of this.#listeners) {
      try {
        observer.textAdded?.(step);
      } catch (error) {
        this.#failed(step, error);
      }
    }
  }

  #failed({ action: { type } }: SessionStep, error: unknown): void {
    this.logger.log('error', 'an observer of a session failed', { action: type, error: String(error) });
  }

  lost(): void {
    for (const observer of this.all) observer.lost?.();
  }

  suspend(): Promise<void> {
    return this.#toAll((observer) => observer.suspend?.());
  }

  close(): Promise<void> {
    return this.#toAll((observer) => observer.close());
  }

  async #toAll(end: (observer: SessionObserver) => Promise<void> | undefined): Promise<void> {
    const ended = await Promise.allSettled(this.all.map(async (observer) => end(observer)));
    for (const outcome of ended) {
      if (outcome.status === 'rejected')
        this.logger.log('warn', 'an observer of a session could not be closed', { error: String(outcome.reason) });
    }
  }
}
