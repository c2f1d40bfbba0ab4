/** What a session is made of. */
import type { SessionState } from '@atrium/protocol';
import type { Channel } from '../channels/channel.js';
import type { AgentBackend } from '../contracts/agent.js';
import type { Extension } from '../contracts/extension.js';
import type { HostCore } from '../contracts/host-core.js';
import type { HostTool } from '../contracts/tool.js';
import type { Log } from '../log/log.js';
import type { Catalogue } from './catalogue.js';
import type { AttachCompanion } from './companion.js';
import type { SessionNotes } from './session-notes.js';
import type { TurnPages } from './turn-pages.js';

/** What all sessions of a host have in common. */
export interface SharedParts {
  readonly core: HostCore;
  readonly log: Log;
  readonly catalogue: Catalogue;
  readonly notes: SessionNotes;
  readonly tools: readonly HostTool[];
  /** What every session is extended by. */
  readonly extensions: readonly Extension[];
  /** How long the processes of a session outlive its last turn; `Infinity` leaves them alive. */
  readonly restProcessesAfterMs: number;
  /** What lives beside every session. */
  readonly companions: readonly AttachCompanion[];
}

export interface SessionParts extends SharedParts {
  readonly channel: Channel<SessionState>;
  readonly pages: TurnPages;
  readonly backend: AgentBackend | undefined;
  /** When the session was in memory before, this is over when it has left: two agents must not work on one session. */
  readonly predecessor: Promise<unknown> | undefined;
}

/** An agent with tools of its own for files and commands is not offered the host's. */
export function offeredBuiltins({ backend, tools }: Pick<SessionParts, 'backend' | 'tools'>): readonly HostTool[] {
  return backend?.abilities.ownTools ? [] : tools;
}
