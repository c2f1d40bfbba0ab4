/** The settings of `atrium serve`: options and environment, checked and turned into one plain object. */
import path from 'node:path';
import {
  type AccessPolicy,
  EncryptionRequiredError,
  type HostOptions,
  isTokenText,
  keptToken,
  type LogLevel,
  Networks,
  newToken,
  readTlsPair,
  readToken,
  type TelemetryChoice,
  type TlsFiles,
  TokenRequiredError,
} from '@atrium/host';
import type { HostSetting } from '@atrium/protocol/ahp-1';
import type { Command } from 'commander';
import { dataFolderFrom } from '../data-folder.js';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import type { LogFormat } from '../log-lines.js';
import type { ClusterOptions, ClusterSettings } from './cluster-settings.js';
import { describedOptions } from './described-settings.js';
import { IDLE_EXIT_MS } from './idle-exit.js';

export interface ServeSettings {
  readonly host: string;
  readonly port: number;
  readonly stdio: boolean;
  readonly dataDir: string;
  readonly scripts: readonly string[];
  /** Folders that may start programs, besides the remembered ones. */
  readonly trust: readonly string[];
  /** Absent: no providers. */
  readonly gateway: GatewayChoice | undefined;
  /** Whether clients can open shells on this machine. */
  readonly terminals: boolean;
  readonly token: TokenChoice;
  readonly policy: AccessPolicy;
  /** Absent: without encryption. */
  readonly tls: TlsFiles | undefined;
  /** Networks of proxies whose forwarded headers count. */
  readonly behindProxy: readonly string[];
  /** Undefined: as many as the host allows by default. */
  readonly maxClients: number | undefined;
  /** The private hosts that notifications may go to, and the contact for push services. */
  readonly notifications: NonNullable<HostOptions['notifications']>;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly quiet: boolean;
  /** Absent: the host runs until somebody stops it. */
  readonly idleExitMs: number | undefined;
  /** Absent: the host's usual time. */
  readonly restProcessesAfterMs: number | undefined;
  /** Absent: only clients that subscribe get telemetry. */
  readonly telemetry: TelemetryChoice | undefined;
  /** Absent: messages are not logged. */
  readonly wireLog: string | undefined;
  /** Absent: this host runs alone. */
  readonly cluster: ClusterSettings | undefined;
  /** The settings as clients may see them. */
  readonly described: readonly HostSetting[];
}

interface GatewayChoice {
  readonly port: number;
  /** The user named this port. */
  readonly isNamed: boolean;
}

/** Named as commander does. */
interface ServeOptions extends ClusterOptions {
  readonly host: string;
  readonly port: number;
  readonly stdio?: boolean;
  readonly dataDir?: string;
  readonly script?: readonly string[];
  readonly trust?: readonly string[];
  readonly gateway: boolean;
  readonly gatewayPort: number;
  readonly terminals: boolean;
  readonly connectionToken?: string;
  readonly connectionTokenFile?: string;
  readonly withoutConnectionToken?: boolean;
  readonly rotateToken?: boolean;
  readonly allowedOrigins?: string;
  readonly allowedHosts?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindProxy?: string;
  readonly maxClients?: number;
  readonly insecureRemote?: boolean;
  readonly notifyHosts?: string;
  readonly notifyContact?: string;
  readonly logLevel?: LogLevel;
  readonly logFormat: LogFormat;
  readonly quiet?: boolean;
  /** In seconds; `true` is the usual time. */
  readonly exitWhenIdle?: number | true;
  /** In seconds; 0 means never. */
  readonly restAfter?: number;
  readonly otlp?: string;
  readonly wireLog?: string;
  readonly cluster?: boolean;
}

export async function readSettings(command: Command, env: NodeJS.ProcessEnv = io().env): Promise<ServeSettings> {
  const options = command.opts<ServeOptions>();
  const dataDir = dataFolderFrom(options.dataDir, env);
  const token = await chooseToken(options, dataDir, (name) => command.getOptionValueSource(name) === 'cli');
  // Programs that agents start inherit the environment and must not see the token.
  delete env.ATRIUM_CONNECTION_TOKEN;
  const cluster = options.cluster
    ? await (await import('./cluster-settings.js')).clusterFrom(options, { token, env })
    : undefined;
  const policy = policyOf(options, token);
  const tls = await tlsFrom(options);
  if (!options.stdio) {
    TokenRequiredError.throwIfNeeded(options.host, policy);
    EncryptionRequiredError.throwIfNeeded(options.host, policy, tls !== undefined);
  }
  const { host, port, stdio = false, quiet = false, logFormat } = options;
  const isNamed = command.getOptionValueSource('gatewayPort') !== 'default';
  return {
    ...{ host, port, stdio, quiet, logFormat, token, policy, tls, dataDir, cluster },
    behindProxy: checkedNetworks(parts(options.behindProxy, ',')),
    maxClients: options.maxClients,
    notifications: {
      privateHosts: parts(options.notifyHosts, ',').map(checkedNotifyHost),
      contact: checkedContact(options.notifyContact),
    },
    scripts: options.script ?? scriptsFrom(env),
    idleExitMs: idleMs(options.exitWhenIdle),
    restProcessesAfterMs: restMs(options.restAfter),
    trust: options.trust ?? [],
    telemetry: telemetryFrom(options.otlp, env),
    wireLog: options.wireLog === undefined ? undefined : path.resolve(options.wireLog),
    terminals: options.terminals,
    gateway: options.gateway ? { port: options.gatewayPort, isNamed } : undefined,
    logLevel: options.logLevel ?? (quiet ? 'warn' : 'info'),
    described: describedOptions(command),
  };
}

function idleMs(seconds: number | true | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  return seconds === true ? IDLE_EXIT_MS : seconds * 1_000;
}

function restMs(seconds: number | undefined): number | undefined {
  return seconds === 0 ? Number.POSITIVE_INFINITY : seconds && seconds * 1_000;
}

/** The scripts from the environment; they count if the command line names none. */
export function scriptsFrom(env: NodeJS.ProcessEnv): string[] {
  return parts(env.ATRIUM_SCRIPT, path.delimiter);
}

function policyOf(options: ServeOptions, token: TokenChoice): AccessPolicy {
  const { allowedOrigins, allowedHosts, insecureRemote = false } = options;
  return {
    token: token.kind === 'none' ? undefined : token.text,
    isGenerated: token.kind === 'generated',
    allowedOrigins: parts(allowedOrigins, ',').map(checkedOrigin),
    allowedHosts: parts(allowedHosts, ',').map(checkedHost),
    insecureRemote,
  };
}

function parts(list: string | undefined, separator: string): string[] {
  return (list ?? '').split(separator).flatMap((part) => part.trim() || []);
}

function checkedOrigin(text: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+[^\s/?#@.]$/i.test(text)) return text;
  throw new UsageError(`--allowed-origins: "${text}" is not an origin. Write it as http://localhost:5173`);
}

function checkedHost(text: string): string {
  if (/^[\w.-]*\w$|^\[?[\da-f:.]+\]?$/i.test(text)) return text;
  throw new UsageError(`--allowed-hosts: "${text}" is not a host name. Write it without a scheme or a port.`);
}

function checkedNotifyHost(text: string): string {
  if (/^(?:[\w.-]*\w|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(text)) return text.toLowerCase();
  throw new UsageError(`--notify-hosts: "${text}" is not a host. Write ntfy.lan, or ntfy.lan:8080 for one port.`);
}

function checkedContact(text: string | undefined): string | undefined {
  if (text === undefined || /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(text)) return text;
  throw new UsageError(`--notify-contact: "${text}" is no contact. Write mailto:you@example.org or an https address.`);
}

function checkedNetworks(networks: readonly string[]): readonly string[] {
  try {
    new Networks(networks);
    return networks;
  } catch (error) {
    throw new UsageError(`--behind-proxy: ${error instanceof Error ? error.message : error}.`);
  }
}

/** Reads both files, so that a pair that does not work fails before anything opens. */
async function tlsFrom({ tlsCert, tlsKey }: ServeOptions): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new UsageError('Give --tls-cert and --tls-key together: a certificate and its key.');
  const files = { cert: path.resolve(tlsCert), key: path.resolve(tlsKey) };
  await readTlsPair(files);
  return files;
}

// The connection token: the user's own, the one of the data folder, or none.

export type TokenChoice =
  /** Made by a host of this data folder, and stored there for the next one. */
  | { readonly kind: 'generated'; readonly text: string }
  | { readonly kind: 'given'; readonly text: string }
  | { readonly kind: 'file'; readonly text: string; readonly file: string }
  | { readonly kind: 'none' };

const NAMES = ['connectionToken', 'connectionTokenFile', 'withoutConnectionToken'] as const;
type Name = (typeof NAMES)[number];

/** An option on the command line overrides every variable of the environment, also one of another option. */
async function chooseToken(
  options: ServeOptions,
  dataDir: string,
  isFromCommandLine: (name: Name | 'rotateToken') => boolean,
): Promise<TokenChoice> {
  const present = NAMES.filter((name) => options[name] !== undefined && options[name] !== false);
  const typed = present.filter(isFromCommandLine);
  const [chosen, another] = typed.length > 0 ? typed : present;
  if (another !== undefined) {
    throw new UsageError('Give one of --connection-token, --connection-token-file and --without-connection-token.');
  }
  if (options.rotateToken && chosen !== undefined && isFromCommandLine('rotateToken')) {
    throw new UsageError('--rotate-token makes a new token of the host: leave out the option for a token of your own.');
  }
  return resolve(chosen, options, dataDir);
}

async function resolve(chosen: Name | undefined, options: ServeOptions, dataDir: string): Promise<TokenChoice> {
  if (chosen === 'withoutConnectionToken') return { kind: 'none' };
  if (chosen === 'connectionToken')
    return { kind: 'given', text: checked(options.connectionToken ?? '', '--connection-token') };
  const { connectionTokenFile: file } = options;
  if (chosen === undefined || file === undefined) {
    const stored = options.rotateToken ? undefined : await keptToken(dataDir);
    return { kind: 'generated', text: stored ?? newToken() };
  }
  const text = await readToken(file).catch((error) => {
    throw new UsageError(`--connection-token-file: ${file} cannot be read (${error.code ?? error.message}).`);
  });
  return { kind: 'file', text: checked(text, `--connection-token-file: ${file}`), file };
}

/** The message must not repeat the token. */
function checked(text: string, where: string): string {
  if (isTokenText(text)) return text;
  throw new UsageError(`${where}: a token is made of letters, digits and - _ . ~, and is not empty.`);
}

// Telemetry: by our own option, or by the variables of OpenTelemetry.

export function telemetryFrom(option: string | undefined, env: NodeJS.ProcessEnv): TelemetryChoice | undefined {
  const endpoint = option ?? (env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined);
  if (endpoint === undefined || env.OTEL_SDK_DISABLED === 'true') return undefined;
  return {
    endpoint: checkedUrl(endpoint),
    headers: headersFrom(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    ...(env.OTEL_SERVICE_NAME && { serviceName: env.OTEL_SERVICE_NAME }),
  };
}

function checkedUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`--otlp: "${text}" is not the address of a collector. Write it as http://127.0.0.1:4318`);
}

/** `key=value,key=value`, with values as in a URL. */
function headersFrom(list: string): Record<string, string> {
  const pairs = list.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 ? [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]] : [];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
