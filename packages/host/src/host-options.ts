/** What a host is made of, and what its caller can do with it. */
import type { KeyObject } from 'node:crypto';
import type { Access } from '@atrium/core/contracts/access.js';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { FolderPlaces } from '@atrium/core/contracts/folder-places.js';
import type { SessionPrograms } from '@atrium/core/contracts/session-programs.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { Log } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { Transport } from '@atrium/core/wire/transport.js';
import type { ClusterReport, HostSetting } from '@atrium/protocol/ahp-1';
import type { AutomationsOptions } from './automations/automations.js';
import type { Reachability } from './devices/devices.js';
import type { AnswerResult } from './notifications/answers.js';
import type { NotificationsOptions } from './notifications/notifications.js';
import type { VapidKeys } from './notifications/web-push.js';
import type { CustomizationsOptions } from './plugins/customizations/ports.js';
import type { FolderTrust } from './plugins/trust/folder-trust.js';
import type { ServedDevices } from './server/server.js';
import type { Tunnels } from './server/tunnels.js';
import type { TelemetryChoice } from './telemetry/telemetry-service.js';
import type { UsageOptions } from './usage/usage.js';
import type { TerminalsOptions } from './workspace/terminals/terminals.js';

export interface HostOptions {
  readonly log: Log;
  /** The first one is the default. */
  readonly agents: readonly AgentBackend[];
  readonly tools?: readonly HostTool[];
  /** Tools, gates and prompt text that every session gets besides its own. */
  readonly extensions?: readonly Extension[];
  /** Where providers that run on this machine may leave files for results. Absent: they may not. */
  readonly providerFolder?: string;
  /**
   * Refuse rules and prompt changes of providers that the agent of a session cannot honour; otherwise the host only
   * reports them.
   */
  readonly strictProviders?: boolean;
  /**
   * Milliseconds after the last turn of a session until its processes end (agent, MCP servers, providers of its
   * project). `Infinity` leaves them alive; the default is `PROCESSES_IDLE_MS`. They start again with the next turn.
   */
  readonly restProcessesAfterMs?: number;
  /** Which folders may start programs. Without it, no folder may. */
  readonly trust?: FolderTrust;
  /**
   * Where plugins, skills, rules and the like are. Without it, sessions have none, not even those that clients bring.
   */
  readonly customizations?: CustomizationsOptions;
  /** How much of one tool output a model reads, in characters; people can read all of it. Default: 32,000. */
  readonly toolOutputMaxCharacters?: number;
  /**
   * Tool input up to this length goes to every client as text; longer input goes by reference to clients whose version
   * has references. Default: 65,536.
   */
  readonly toolInputInlineMaxCharacters?: number;
  /** Whether clients may add text to the system prompt of a session that they create. Default: true. */
  readonly systemMessageSections?: boolean;
  /**
   * Whether pieces of text that an agent sends in quick succession are joined into fewer actions; `false`: each piece
   * is one action. Default: true.
   */
  readonly joinText?: boolean;
  /** Whether agents whose models can do it name sessions, with a small request after the first turn. Default: false. */
  readonly titles?: boolean;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** The folder for contents, snapshots and worktrees of sessions. Without one, sessions have none of these. */
  readonly dataFolder?: string;
  /** Where telemetry goes, besides to clients that ask for it. */
  readonly telemetry?: TelemetryChoice;
  /** The folder for a log of every message on every connection, for finding faults. */
  readonly wireLog?: string;
  /**
   * The keys by which devices and push services recognise the host. Absent: the host keeps its own in the data folder.
   */
  readonly deviceKeys?: DeviceKeys;
  /** The cluster that this host is one of. */
  readonly cluster?: ClusterView;
  /** Which host of a cluster has which folder. Absent: this host has them all. */
  readonly folderPlaces?: FolderPlaces;
  /** Which host of a cluster runs the programs of which session. Absent: this host runs them all. */
  readonly programs?: SessionPrograms;
  /** The version that the host tells clients, for display. */
  readonly version?: string;
  /** Where folder pickers of remote clients begin, as a URI. */
  readonly defaultDirectory?: string;
  /** More folders, as paths, below which clients may look for a place to work; clients see names only. */
  readonly browsedFolders?: readonly string[];
  /** Shells that clients can open and that tools run commands in; `false`: none. */
  readonly terminals?: TerminalsOptions | false;
  /** Messages that the host sends by itself, on a schedule or an event; `false`: none. */
  readonly automations?: AutomationsOptions | false;
  /** How the host reaches people who are not looking at a client. */
  readonly notifications?: NotificationsOptions;
  /**
   * The person's configuration file, where their permission rules are read and written. Without it, the person has no
   * rules.
   */
  readonly personFile?: string;
  /** Prices of tokens, and budgets. */
  readonly usage?: UsageOptions;
  /** What `atrium/settings` answers about how this host was started. No secrets. */
  readonly settings?: readonly HostSetting[];
}

export interface ClusterView {
  /** The id of this host. */
  readonly host: string;
  report(): Promise<ClusterReport>;
  /** Asks a host to leave when its turns have ended; false when no such host is running. */
  drain(host: string): Promise<boolean>;
}

export interface DeviceKeys {
  /** An Ed25519 key. Its fingerprint accompanies each pairing code and is part of the name of the page's cookie. */
  readonly host: KeyObject;
  /** Browsers accept only notifications that are signed with the key they subscribed under. */
  readonly push: VapidKeys;
}

export interface Host {
  /** Serves one client on a transport, as the owner if no access is given. */
  connect(transport: Transport, access?: Access): void;
  /** Serves one provider. A provider in this process is trusted; one from the network must show a token or pair. */
  connectProvider(transport: Transport, origin: 'in-process' | 'network'): void;
  /** Where the providers that the host itself starts connect. */
  gatewayAt(address: GatewayAddress): void;
  /** Answers Allow or Deny from a notification, which carries the key. A wrong key does nothing. */
  answerNotification(key: unknown, approved: unknown): Promise<AnswerResult>;
  /** Devices and shares, for the server that clients connect to. */
  readonly devices: HostDevices;
  /** Ways into the host that its owner has opened, for the server. */
  readonly tunnels: Tunnels;
  /** Who is connected, and what is under way. */
  readonly activity: HostActivity;
  /** Resolves with the reason when the host had to stop by itself because another host writes to its log. */
  readonly failed: Promise<Error>;
  /** Begins no turns from now on: messages are stored, and the host that opens the log next begins their turns. */
  drain(): void;
  /** Stops in good order: cuts off turns, stores what happened, and tells clients to come back. */
  stop(): Promise<void>;
}

export interface HostDevices extends ServedDevices {
  /** Where devices reach the host; the links that admit new devices name these addresses. */
  reachedAt(reach: Reachability): Promise<void>;
}

export interface HostActivity {
  readonly clients: number;
  readonly providers: number;
  /** The providers among them that the host started itself. They do not keep it running. */
  readonly ownProviders: number;
  /** Sessions with a turn under way. */
  readonly working: number;
  /** Terminals with a running program. */
  readonly terminals: number;
  /** Automations that wait for their time or an event. */
  readonly automations: number;
}

export interface GatewayAddress {
  readonly url: string;
  readonly port: number;
}
