/** Runs a host from start to stop: opens its parts in order, and closes them in reverse. */

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type AgentBackend,
  builtinTools,
  type CustomizationsOptions,
  createHost,
  type FolderTrust,
  type Health,
  type Host,
  type HostOptions,
  type Logger,
  openSqliteLog,
  userConfigFile,
} from '@atrium/host';
import type { HostSetting } from '@atrium/protocol/ahp-1';
import { findAgents, logAgents } from '../agents/find-agents.js';
import { makeFolder, makePrivate } from '../data-folder.js';
import { ExitCode } from '../exit.js';
import { io } from '../io.js';
import { lineLogger } from '../log-lines.js';
import { version } from '../places.js';
import { namedFolders, trustedFolders } from '../trusted-folders.js';
import { describedConfig } from './described-settings.js';
import { watchIdle } from './idle-exit.js';
import { type Listener, type OpenGateway, openGateway, openNetwork, openStdio } from './listeners.js';
import type { ServeSettings } from './settings.js';
import { startScreen } from './start-screen.js';

/** A longer stop has failed, because something hangs. Providers alone may take ten seconds. */
const STOP_TIMEOUT_MS = 15_000;

export async function serveUntilStopped(settings: ServeSettings): Promise<void> {
  // Hides the command line, which may hold a token, from lists of processes.
  process.title = 'atrium serve';
  const logger = loggerFor(settings);
  const signal = stopSignal(settings.cluster !== undefined);
  try {
    const trust = trustedFolders(settings.dataDir, await namedFolders(settings.trust, logger));
    const found = await findAgents({ scripts: settings.scripts, dataDir: settings.dataDir, trust });
    logAgents(found, logger);
    const { agents } = found;
    const { toolOutputMaxCharacters, systemMessageSections, automationRunsAtOnce, joinText } = found.config.config;
    const { prices, flatPlans, budgets, titles = true } = found.config.config;
    const chosen = { toolOutputMaxCharacters, systemMessageSections, automationRunsAtOnce, joinText, titles };
    const usage = { prices, flatPlans, budgets };
    const described = [...describedConfig(found.config), ...settings.described];
    const parts = { agents, trust, logger, usage, described, ...chosen };
    if (settings.cluster) {
      const { serveInCluster } = await import('./run-cluster.js');
      return await serveInCluster(settings, settings.cluster, {
        ...signal,
        logger,
        agents,
        start: (own) => openHost(settings, parts, own),
      });
    }
    const host = await openHost(settings, parts);
    const { listener, gateway } = await openListeners(settings, host, logger);
    io().stdout.write(greeting(settings, { listener, gateway, agents }));
    const idle = settings.idleExitMs === undefined ? undefined : watchIdle(host, { idleMs: settings.idleExitMs });
    const reason = await Promise.race([signal.asked, listener.ended, host.failed, ...(idle ? [idle.ended] : [])]);
    idle?.stop();
    logger.log('info', 'stopping', { reason: String(reason) });
    await inTime(stop(host, listener, gateway));
    logger.log('info', 'stopped');
    if (reason instanceof Error) throw reason;
  } finally {
    signal.release();
  }
}

function loggerFor({ logLevel: level, logFormat: format, token }: ServeSettings): Logger {
  const secret = token.kind === 'none' ? undefined : token.text;
  const { stderr } = io();
  return lineLogger({ level, format, secret, write: (line) => stderr.write(line) });
}

interface OpenHostOptions {
  readonly agents: readonly AgentBackend[];
  readonly trust: FolderTrust;
  readonly logger: Logger;
  readonly toolOutputMaxCharacters: number | undefined;
  readonly systemMessageSections: boolean | undefined;
  readonly automationRunsAtOnce: number | undefined;
  readonly joinText: boolean | undefined;
  readonly usage: HostOptions['usage'];
  readonly described: readonly HostSetting[];
  readonly titles: boolean;
}

/** Opens the host on the log of a cluster, or on that of the data folder. */
async function openHost(
  settings: ServeSettings,
  options: OpenHostOptions,
  clusters?: Pick<HostOptions, 'log' | 'cluster' | 'folderPlaces' | 'deviceKeys' | 'programs'>,
): Promise<Host> {
  const {
    agents,
    trust,
    logger,
    toolOutputMaxCharacters,
    systemMessageSections,
    automationRunsAtOnce,
    joinText,
    titles,
  } = options;
  const { dataDir, telemetry, wireLog } = settings;
  await makePrivate(dataDir);
  if (wireLog !== undefined) await makeFolder(wireLog, { what: 'the wire log', option: '--wire-log' });
  const log = clusters?.log ?? (await openSqliteLog({ dataDir, logger }));
  const defaultDirectory = pathToFileURL(io().cwd).href;
  try {
    const providerFolder = path.join(dataDir, 'providers');
    const customizations = customizationFolders(dataDir);
    const browsedFolders = [io().home];
    const dataFolder = settings.cluster?.sharedDir ?? dataDir;
    const personFile = userConfigFile({ platform: process.platform, env: io().env, home: io().home });
    const places = { dataFolder, personFile, defaultDirectory, browsedFolders, providerFolder, customizations };
    const watched = { ...(telemetry && { telemetry }), ...(wireLog !== undefined && { wireLog }) };
    const terminals = settings.terminals ? {} : { terminals: false as const };
    const { restProcessesAfterMs } = settings;
    const limits = {
      titles,
      ...(toolOutputMaxCharacters !== undefined && { toolOutputMaxCharacters }),
      ...(systemMessageSections !== undefined && { systemMessageSections }),
      ...(joinText !== undefined && { joinText }),
      ...(restProcessesAfterMs !== undefined && { restProcessesAfterMs }),
      ...(automationRunsAtOnce !== undefined && { automations: { runsAtOnce: automationRunsAtOnce } }),
    };
    const { usage, described } = options;
    const own = {
      ...(usage && { usage }),
      ...clusters,
      log,
      agents,
      tools: builtinTools(),
      logger,
      trust,
      version: version(),
      settings: described,
      notifications: settings.notifications,
    };
    return await createHost({ ...own, ...places, ...watched, ...terminals, ...limits });
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** The user's customizations for all projects; those of a project are in its folder. */
function customizationFolders(dataDir: string): CustomizationsOptions {
  const home = io().home;
  return {
    userFolder: path.join(home, '.agents'),
    userConfigFile: userConfigFile({ platform: process.platform, env: io().env, home }),
    dataFolder: path.join(dataDir, 'plugins'),
  };
}

export interface Listeners {
  readonly listener: Listener;
  readonly gateway: OpenGateway | undefined;
}

export async function openListeners(
  settings: ServeSettings,
  host: Host,
  logger: Logger,
  health?: () => Health,
): Promise<Listeners> {
  let gateway: OpenGateway | undefined;
  try {
    gateway = await openGateway(settings, host, logger);
    const listener = settings.stdio ? openStdio(host, logger) : await openNetwork(settings, host, logger, health);
    return { listener, gateway };
  } catch (error) {
    await gateway?.close();
    await host.stop();
    throw error;
  }
}

interface Running extends Listeners {
  readonly agents: readonly AgentBackend[];
}

/** Programs read the line with the port; people get a screen; a client on standard output gets neither. */
export function greeting(
  { quiet, dataDir, token: choice }: ServeSettings,
  { listener, gateway, agents }: Running,
): string {
  const { address } = listener;
  if (address.at === 'stdio') return '';
  if (quiet) return `READY:${address.port}\n`;
  const names = agents.map(({ info }) => info.displayName);
  const token = io().stdout.isTTY && choice.kind !== 'none' ? choice.text : undefined;
  return startScreen({ ...address, token, dataDir, gatewayUrl: gateway?.url, agents: names });
}

/** The host stops first: it stores what it has accepted before connections close. */
export async function stop(host: Host, listener: Listener, gateway: OpenGateway | undefined): Promise<void> {
  listener.stopAccepting();
  try {
    await host.stop();
  } finally {
    await Promise.all([listener.close(), gateway?.close()]);
  }
}

export async function inTime(stopped: Promise<void>): Promise<void> {
  const timer = new AbortController();
  const tooLate = new Promise<never>((_, reject) => {
    const timeout = setTimeout(() => reject(new Error(`did not stop within ${STOP_TIMEOUT_MS} ms`)), STOP_TIMEOUT_MS);
    timer.signal.addEventListener('abort', () => clearTimeout(timeout));
  });
  await Promise.race([stopped, tooLate]).finally(() => timer.abort());
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignal {
  /** Resolves with the name of the first signal. */
  readonly asked: Promise<string>;
  /** Resolves at the second signal, unless that ends the process at once. */
  readonly insisted: Promise<void>;
  release(): void;
}

/** `isPatient`: after the first signal the host waits for running turns, and the second one ends the wait. */
function stopSignal(isPatient: boolean): StopSignal {
  let handler: (signal: string) => void = () => {};
  let insist: () => void = () => {};
  const insisted = new Promise<void>((resolve) => {
    insist = resolve;
  });
  const asked = new Promise<string>((resolve) => {
    let count = 0;
    handler = (signal) => {
      count += 1;
      if (count > (isPatient ? 2 : 1)) io().exit(ExitCode.Failed);
      if (count === 2) insist();
      resolve(signal);
    };
  });
  for (const name of SIGNALS) io().signals.on(name, handler);
  return {
    asked,
    insisted,
    release() {
      for (const name of SIGNALS) io().signals.off(name, handler);
    },
  };
}
