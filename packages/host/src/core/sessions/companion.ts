/** What lives beside a session as long as it is in memory: customizations, providers. */
import type { SessionState } from '@atrium/protocol';
import type { Step } from '../channels/channel.js';
import type { Session } from './session.js';

export interface Companion {
  /** It still needs the session: it must not leave memory. */
  readonly keepsAwake?: boolean;
  /** Makes the folder of the session ready; everything else begins after it. Throws when it cannot be done. */
  place?(): Promise<void>;
  /** The session is about to be used: its agent opens next, and waits for this. Said again after a rest. */
  begin?(): Promise<void>;
  /** The session rests: processes that belong to it end, and what they offered stays listed. Resolves when they are gone. */
  rest?(): Promise<void>;
  /** An action was taken, in this very tick. May write actions of its own. */
  observe?(step: Step<SessionState>): void;
  /** Something that the host wrote here could not be stored: what still should be so has to be written again. */
  lost?(): void;
  /** The session leaves memory, or ends. */
  close(): Promise<void>;
}

/** Called when a session enters memory. */
export type AttachCompanion = (session: Session) => Companion;
