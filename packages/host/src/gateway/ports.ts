/** The gateway's contracts: what it needs from the host, and what each of its services may do. */

import type { AgentAbilities } from '@atrium/core/contracts/agent.js';
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { TelemetryReports } from '@atrium/core/contracts/telemetry.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { ChatStep, SessionStep } from '@atrium/core/sessions/session-observer.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { ChatAction, ChatState, SessionAction, SessionState } from '@atrium/protocol/ahp-1';
import type { ToGatewayMessageMap, ToGatewayMessageType } from '@atrium/protocol/provider';
import type { SessionTrust } from '../plugins/trust/session-trust.js';
import type { GatewaySession, ProviderGroup } from './gateway-session.js';
import type { ShowCodes } from './pairing.js';
import type { Binding, Provider } from './provider.js';

export interface GatewayPorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry?: CallTelemetry | undefined;
  readonly commits: Commits;
  /** Shows people the pairing codes of a program that asks for access. */
  readonly showCodes: ShowCodes;
  /** Where providers on this machine may leave result files; without it, none may. */
  readonly filesFolder?: string;
  /** Refuses rules and prompt changes that a session's agent cannot honour, instead of only reporting them. */
  readonly isStrict?: boolean;
  /** Where providers that the host starts find the gateway; undefined while it has no port. */
  address(): GatewayUrl | undefined;
  /** No provider needs this session any more, so the host may unload it. */
  released(uri: string): void;
  /** Called when a provider pushed an event to a session and no filter dropped it. */
  pushed?(event: PushedEvent): void;
}

export interface PushedEvent {
  readonly session: string;
  /** The name of the provider. */
  readonly provider: string;
  readonly stream: string;
  readonly text: string;
}

export type CallTelemetry = Pick<TelemetryReports, 'around'>;

export interface GatewayUrl {
  readonly url: string;
  readonly port: number;
}

export interface Commits {
  /** Resolves when everything written to sessions so far is stored, and so in force for every client. */
  settled(): Promise<void>;
  /** Calls back, in order, when everything written so far is stored. */
  afterCommit(then: () => void): void;
}

/** The part of a session of the host that the gateway uses. */
export interface HostSession {
  readonly uri: string;
  readonly state: SessionState;
  /** The session was unloaded or disposed. */
  readonly isClosed: boolean;
  readonly extensions: {
    set(extension: Extension): void;
    remove(id: string): void;
    tools(): readonly HostTool[];
    /** Tells clients the list of tools, if it changed. */
    changed(): void;
    /** Tells clients nothing until the returned function is called. */
    hold(): () => void;
  };
  /** The default chat comes first, then the others. */
  readonly chats: readonly HostChat[];
  /** The default chat, which providers follow and which their messages go to. */
  readonly chat: HostChat;
  write(action: SessionAction): void;
}

export interface HostChat {
  readonly uri: string;
  readonly state: ChatState;
  write(action: ChatAction): void;
}

/** Facts of a session besides its state. */
export interface SessionFacts {
  readonly trust: Pick<SessionTrust, 'isFolderTrusted' | 'whenTrusted' | 'close'>;
  /** What the session's agent can do; undefined if this host does not have the agent. */
  readonly abilities: AgentAbilities | undefined;
  /** Whether the session is listed: an unloaded one stays listed, a disposed one does not. */
  isListed(): boolean;
  /** Withdraws questions whose askers ended with an earlier run of the host. */
  withdrawStaleQuestions(): void;
}

/** How a provider left: it lost its connection (and may come back), said goodbye, or bound again. */
export type DepartureReason = 'lost' | 'left' | 'rebound';

export type Handlers = {
  readonly [Type in ToGatewayMessageType]?: (message: ToGatewayMessageMap[Type], provider: Provider) => void;
};

/** One feature of the gateway: it handles some messages of bound providers and reacts to what happens around them. */
export interface GatewayService {
  readonly handlers?: Handlers;
  /** What all instances of a provider together add to a session. */
  extend?(group: ProviderGroup): Partial<Extension>;
  /** A provider entered a session, either for the first time or after being away. */
  bound?(binding: Binding, isBack: boolean): void;
  /** A provider left a session. */
  unbound?(binding: Binding): void;
  /** A provider came to a session, changed there, or left it. */
  changed?(group: ProviderGroup): void;
  /** Ends everything that waits for this provider. */
  left?(provider: Provider, how: DepartureReason): void;
  /** A session is open to providers. */
  opened?(session: GatewaySession): void;
  /** A person works in an open session, for the first time or again after it was suspended; its processes may start. */
  used?(session: GatewaySession): void;
  /** A session is idle. Resolves when the processes that ran for it have ended. */
  suspending?(session: GatewaySession): Promise<void> | undefined;
  /** A session is about to end. Resolves when its providers are ready for that, or their time is up. */
  ending?(session: GatewaySession): Promise<void> | undefined;
  /** All providers have left the session. Resolves when everything that ran for it has ended. */
  ended?(session: GatewaySession): Promise<void> | undefined;
  /** An action other than text was written to a session or one of its chats, in the same tick. */
  observe?(session: GatewaySession, step: SessionStep): void;
  /** The agent said more, or thought more. */
  textAdded?(session: GatewaySession, step: ChatStep): void;
}
