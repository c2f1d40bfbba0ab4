/** What the user asked for, checked and complete: from options and environment to one plain object. */

import path from 'node:path';
import { type AccessPolicy, type LogLevel, type TelemetryChoice, TokenRequiredError } from '@atrium/host';
import type { Command } from 'commander';
import { dataFolderFrom } from '../data-place.js';
import { UsageError } from '../exit.js';
import { io } from '../io.js';
import type { LogFormat } from '../log-lines.js';
import { IDLE_EXIT_MS } from './idle.js';
import { telemetryFrom } from './telemetry.js';
import { chooseToken, type TokenChoice } from './token-choice.js';

export interface ServeSettings {
  readonly host: string;
  readonly port: number;
  readonly stdio: boolean;
  readonly dataDir: string;
  readonly scripts: readonly string[];
  /** Folders that may start programs, besides those that are remembered. */
  readonly trust: readonly string[];
  /** Absent: no providers. */
  readonly gateway: GatewayChoice | undefined;
  /** Whether clients can open shells on this machine. */
  readonly terminals: boolean;
  readonly token: TokenChoice;
  readonly policy: AccessPolicy;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
  readonly quiet: boolean;
  /** Absent: it runs until it is told to stop. */
  readonly idleExitMs: number | undefined;
  /** Absent: the host's usual time. */
  readonly restProcessesAfterMs: number | undefined;
  /** Absent: telemetry goes to clients that ask for it, and nowhere else. */
  readonly telemetry: TelemetryChoice | undefined;
  /** Absent: messages are not written down. */
  readonly wireLog: string | undefined;
}

export interface GatewayChoice {
  readonly port: number;
  /** The user wants this very port. */
  readonly isNamed: boolean;
}

/** As commander names them. */
export interface ServeOptions {
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
  readonly logLevel?: LogLevel;
  readonly logFormat: LogFormat;
  readonly quiet?: boolean;
  /** In seconds; `true` is the usual time. */
  readonly exitWhenIdle?: number | true;
  /** In seconds; 0 means never. */
  readonly restAfter?: number;
  readonly otlp?: string;
  readonly wireLog?: string;
}

export async function readSettings(command: Command, env: NodeJS.ProcessEnv = io().env): Promise<ServeSettings> {
  const options = command.opts<ServeOptions>();
  const dataDir = dataFolderFrom(options.dataDir, env);
  const token = await chooseToken(options, dataDir, (name) => command.getOptionValueSource(name) === 'cli');
  // Programs that agents start inherit the environment, and have no business with the token.
  delete env.ATRIUM_CONNECTION_TOKEN;
  const policy = policyOf(options, token);
  if (!options.stdio) TokenRequiredError.throwIfNeeded(options.host, policy);
  const { host, port, stdio = false, quiet = false, logFormat } = options;
  const isNamed = command.getOptionValueSource('gatewayPort') !== 'default';
  return {
    ...{ host, port, stdio, quiet, logFormat, token, policy, dataDir },
    scripts: options.script ?? scriptsFrom(env),
    idleExitMs: idleMs(options.exitWhenIdle),
    restProcessesAfterMs: restMs(options.restAfter),
    trust: options.trust ?? [],
    telemetry: telemetryFrom(options.otlp, env),
    wireLog: options.wireLog === undefined ? undefined : path.resolve(options.wireLog),
    terminals: options.terminals,
    gateway: options.gateway ? { port: options.gatewayPort, isNamed } : undefined,
    logLevel: options.logLevel ?? (quiet ? 'warn' : 'info'),
  };
}

function idleMs(seconds: number | true | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  return seconds === true ? IDLE_EXIT_MS : seconds * 1_000;
}

function restMs(seconds: number | undefined): number | undefined {
  return seconds === 0 ? Number.POSITIVE_INFINITY : seconds && seconds * 1_000;
}

/** The scripts that the environment names, when the command line names none. */
export function scriptsFrom(env: NodeJS.ProcessEnv): string[] {
  return parts(env.ATRIUM_SCRIPT, path.delimiter);
}

function policyOf({ allowedOrigins, allowedHosts }: ServeOptions, token: TokenChoice): AccessPolicy {
  return {
    token: token.kind === 'none' ? undefined : token.text,
    isGenerated: token.kind === 'generated',
    allowedOrigins: parts(allowedOrigins, ',').map(checkedOrigin),
    allowedHosts: parts(allowedHosts, ',').map(checkedHost),
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
