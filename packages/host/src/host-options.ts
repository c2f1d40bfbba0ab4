/** What a host is made of, and what can be done with it. */

import type { Access } from '@atrium/core/contracts/access.js';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { Extension } from '@atrium/core/contracts/extension.js';
import type { FolderPlaces } from '@atrium/core/contracts/folder-places.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import type { Log } from '@atrium/core/log/log.js';
import type { Clock } from '@atrium/core/util/clock.js';
import type { Logger } from '@atrium/core/util/logger.js';
import type { Transport } from '@atrium/core/wire/transport.js';
import type { HostSetting } from '@atrium/protocol/ahp-1';
import type { AutomationsOptions } from './automations/automations.js';
import type { Reachability } from './devices/devices.js';
import type { AnswerResult } from './notifications/answers.js';
import type { NotificationsOptions } from './notifications/notifications.js';
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
  /** What every session has besides: more tools, gates, prompt text. */
  readonly extensions?: readonly Extension[];
  /** Where providers that run on this machine may leave files for results; absent when they may not. */
  readonly providerFolder?: string;
  /** Refuses rules and prompt changes of providers that the agent of a session cannot honour; otherwise it is said. */
  readonly strictProviders?: boolean;
  /**
   * Milliseconds after the last turn of a session until its processes end (agent, MCP servers, providers of its project);
   * by default `PROCESSES_REST_MS`, and `Infinity` leaves them alive. They start again with the next turn.
   */
  readonly restProcessesAfterMs?: number;
  /** Which folders may start programs. Without it, none may. */
  readonly trust?: FolderTrust;
  /** Where plugins, skills, rules and the like are. Without it, sessions have none, not even those of clients. */
  readonly customizations?: CustomizationsOptions;
  /** What a model reads of one tool output, in characters; people can read the whole. Default: 32,000. */
  readonly toolOutputMaxCharacters?: number;
  /** Tool input up to this length goes to every client as text; longer input goes by reference where the version of a client has that. Default: 65,536. */
  readonly toolInputInlineMaxCharacters?: number;
  /** Whether clients may add text to the system prompt of a session that they create. Default: true. */
  readonly systemMessageSections?: boolean;
  /** Whether text that an agent says quickly becomes fewer actions; `false`: each piece is one. Default: true. */
  readonly joinText?: boolean;
  /** Whether the models of agents that can do it give sessions their titles, by a small request after the first turn. Default: false. */
  readonly titles?: boolean;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** A folder for what sessions leave behind: contents, snapshots, worktrees. Without one, they have none of these. */
  readonly dataFolder?: string;
  /** Where telemetry goes besides to clients that ask for it. */
  readonly telemetry?: TelemetryChoice;
  /** A folder for a log of every message on every connection, for hunting faults. */
  readonly wireLog?: string;
  /** Where folders are, for a host that is one of several. Absent: every folder is here. */
  readonly folderPlaces?: FolderPlaces;
  /** The version that the host tells clients, for display. */
  readonly version?: string;
  /** Where remote folder pickers begin, as a URI. */
  readonly defaultDirectory?: string;
  /** Folders, as paths, below which clients may look for a place to work, besides the default one: names only. */
  readonly browsedFolders?: readonly string[];
  /** Shells that clients can open, and that tools run commands in; `false`: none. */
  readonly terminals?: TerminalsOptions | false;
  /** Messages that the host sends by itself, on a schedule or an event; `false`: none. */
  readonly automations?: AutomationsOptions | false;
  /** How people are told who are not looking. */
  readonly notifications?: NotificationsOptions;
  /** The person's configuration file, which their permission rules are read from and written to. Without it, there are none of a person. */
  readonly personFile?: string;
  /** What tokens cost. */
  readonly usage?: UsageOptions;
  /** What `atrium/settings` tells of how this host was started. No secrets. */
  readonly settings?: readonly HostSetting[];
}

export interface Host {
  /** Serves one client on a transport. Without an access it is the owner. */
  connect(transport: Transport, access?: Access): void;
  /** Serves one provider. In this process it is trusted; from the network it has to show a token, or to pair. */
  connectProvider(transport: Transport, origin: 'in-process' | 'network'): void;
  /** Providers that the host starts itself are told to come here. */
  gatewayAt(address: GatewayAddress): void;
  /** Allow or Deny in a notification; the key stands in it. Answers of strangers do nothing. */
  answerNotification(key: unknown, approved: unknown): Promise<AnswerResult>;
  /** Devices and shares: for the server that clients connect to. */
  readonly devices: HostDevices;
  /** Ways into the host that its owner has opened, for the server. */
  readonly tunnels: Tunnels;
  /** Who is here and what is going on. */
  readonly activity: HostActivity;
  /** Fulfilled with the reason when the host could not go on, and stopped by itself: another one writes to its log. */
  readonly failed: Promise<Error>;
  /** Ends everything in good order: turns are cut off, what happened is stored, clients are told to come back. */
  stop(): Promise<void>;
}

export interface HostDevices extends ServedDevices {
  /** Where devices find the host, for the links that let them in. */
  reachedAt(reach: Reachability): Promise<void>;
}

export interface HostActivity {
  readonly clients: number;
  readonly providers: number;
  /** Those among them that the host has started itself. They are here because of it, and do not need it. */
  readonly ownProviders: number;
  /** Sessions with a turn under way. */
  readonly working: number;
  /** Terminals whose program runs. */
  readonly terminals: number;
  /** Automations that wait for their time or for an event. */
  readonly automations: number;
}

export interface GatewayAddress {
  readonly url: string;
  readonly port: number;
}
