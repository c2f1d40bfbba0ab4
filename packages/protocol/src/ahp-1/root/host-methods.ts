/** Methods of our own beside the protocol: settings, the hosts of a cluster, ways into the host, and stopping long work. */

/** The host's settings, and where each value came from. It cannot change anything. */
export const SETTINGS_METHOD = 'atrium/settings';
/** Further settings are not listed. */
export const HOST_SETTINGS_MAX = 200;
/** Longest value, as text. */
export const SETTING_VALUE_MAX_CHARACTERS = 300;

export const SETTING_SOURCES = ['default', 'file', 'environment', 'flag'] as const;
export type SettingSource = (typeof SETTING_SOURCES)[number];

export interface HostSetting {
  /** The key in the configuration file, or the option of `atrium serve`. */
  readonly key: string;
  /** The value for people; never a secret. Absent when nothing is set. */
  readonly value?: string;
  readonly source: SettingSource;
  /** The file, the variable or the option that set it. */
  readonly from?: string;
}

export interface HostSettings {
  readonly items: readonly HostSetting[];
}

/** Reads a host's answer, as far as it is valid. */
export function readHostSettings(answer: unknown): readonly HostSetting[] {
  const items = typeof answer === 'object' && answer !== null && 'items' in answer ? answer.items : [];
  return Array.isArray(items) ? items.filter(isSetting).slice(0, HOST_SETTINGS_MAX) : [];
}

function isSetting(item: unknown): item is HostSetting {
  if (typeof item !== 'object' || item === null) return false;
  const { key, value, source, from } = item as Partial<Record<keyof HostSetting, unknown>>;
  const isText = (text: unknown) => text === undefined || typeof text === 'string';
  return typeof key === 'string' && isText(value) && isText(from) && SETTING_SOURCES.some((each) => each === source);
}

export function settingValueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > SETTING_VALUE_MAX_CHARACTERS ? `${text.slice(0, SETTING_VALUE_MAX_CHARACTERS - 1)}…` : text;
}

/** Lists the hosts, the engine and the shared folders. */
export const HOSTS_METHOD = 'atrium/hosts';
/** Asks a host to leave when its turns have ended. */
export const DRAIN_HOST_METHOD = 'atrium/drainHost';
/** The member of the handshake that tells the owner of a cluster which host answers. */
export const CLUSTER_MEMBER = 'atrium/cluster';

export const HOST_STATES = ['active', 'stand-by', 'gone'] as const;
export type HostState = (typeof HOST_STATES)[number];

export interface ClusterHost {
  readonly id: string;
  readonly state: HostState;
  /** It has been asked to leave. */
  readonly isLeaving: boolean;
  /** At the active host, all that it serves; at another host, those that connected through it. */
  readonly clients: number;
  /** Sessions with a turn running on that host. */
  readonly working: number;
  /** Programs of agents that it runs for the active host; absent at a host that does not work for it. */
  readonly programs?: number;
  readonly version: string;
  /** When it joined, in ISO 8601. */
  readonly joinedAt: string;
}

export interface ClusterReport {
  readonly hosts: readonly ClusterHost[];
  readonly engine: {
    readonly version: number;
    readonly roundTripMs: number;
    readonly bytes: number;
    /** Replicas that follow, and how many of them every commit waits for. */
    readonly replicas: number;
    readonly synchronous: number;
  };
  /** The folders that all hosts share, as paths. */
  readonly volumes: readonly string[];
}

/** Reads an answer; undefined when it is not valid. */
export function readClusterReport(answer: unknown): ClusterReport | undefined {
  const { hosts, engine, volumes } = (answer ?? {}) as Partial<Record<keyof ClusterReport, unknown>>;
  const isReport = Array.isArray(hosts) && Array.isArray(volumes) && typeof engine === 'object' && engine !== null;
  return isReport ? ({ hosts: hosts.filter(isHost), engine, volumes } as ClusterReport) : undefined;
}

function isHost(item: unknown): item is ClusterHost {
  const { id, state } = (item ?? {}) as Partial<Record<keyof ClusterHost, unknown>>;
  return typeof id === 'string' && HOST_STATES.some((each) => each === state);
}

/** Makes an origin, such as `https://name`, the host's own while the connection that asked for it lasts. */
export const REACH_METHOD = 'atrium/reach';

/**
 * Requests that take a while: a client that sends a `progressToken` (in `_meta` of the protocol's own methods) gets
 * `root/progress`, and can stop the work with a method of our own. AHP has this only for the creation of a session.
 */
export const CANCEL_WORK_METHOD = 'atrium/cancelWork';

export interface CancelWorkParams {
  readonly progressToken: string;
}

export interface CancelWorkResult {
  /** Whether there was such work. It may have done part of it, or nothing; the answer to its request says which. */
  readonly wasRunning: boolean;
}
