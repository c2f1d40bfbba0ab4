/** Runs a host from start to stop: opens its parts in order, and closes them in reverse. */

import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type AgentBackend,
  builtinTools,
  type CustomizationsOptions,
  createHost,
  type FolderTrust,
  type Host,
  type HostOptions,
  type Logger,
  openSqliteLog,
  userConfigFile,
} from '@atrium/host';
import { findAgents, logAgents } from '../agents/find-agents.js';
import { makeFolder, makePrivate } from '../data-folder.js';
import { ExitCode } from '../exit.js';
import { io } from '../io.js';
import { lineLogger } from '../log-lines.js';
import { version } from '../places.js';
import { namedFolders, trustedFolders } from '../trusted-folders.js';
import { watchIdle } from './idle-exit.js';
import { type Listener, type OpenGateway, openGateway, openNetwork, openStdio } from './listeners.js';
import type { ServeSettings } from './settings.js';
import { startScreen } from './start-screen.js';

/** A stop that takes longer has failed: something hangs. Providers alone may take ten seconds. */
const STOP_TIMEOUT_MS = 15_000;

export async function serveUntilStopped(settings: ServeSettings): Promise<void> {
  // Hides the command line, which may hold a token, from lists of processes.
  process.title = 'atrium serve';
  const logger = loggerFor(settings);
  const signal = stopSignal();
  try {
    const trust = trustedFolders(settings.dataDir, await namedFolders(settings.trust, logger));
    const found = await findAgents({ scripts: settings.scripts, dataDir: settings.dataDir, trust });
    logAgents(found, logger);
    const { agents } = found;
    const { toolOutputMaxCharacters, systemMessageSections, automationRunsAtOnce, joinText } = found.config.config;
    const { prices, flatPlans, budgets, titles = true } = found.config.config;
    const chosen = { toolOutputMaxCharacters, systemMessageSections, automationRunsAtOnce, joinText, titles };
    const usage = { prices, flatPlans, budgets };
    const host = await openHost(settings, { agents, trust, logger, usage, ...chosen });
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
  readonly titles: boolean;
}

async function openHost(settings: ServeSettings, options: OpenHostOptions): Promise<Host> {
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
  const log = await openSqliteLog({ dataDir, logger });
  const defaultDirectory = pathToFileURL(io().cwd).href;
  try {
    const providerFolder = path.join(dataDir, 'providers');
    const customizations = customizationFolders(dataDir);
    const browsedFolders = [io().home];
    const places = { dataFolder: dataDir, defaultDirectory, browsedFolders, providerFolder, customizations };
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
    const { usage } = options;
    const own = { ...(usage && { usage }), log, agents, tools: builtinTools(), logger, trust, version: version() };
    return await createHost({ ...own, ...places, ...watched, ...terminals, ...limits });
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** What the user has for all projects; a project's own customizations are in its folder. */
function customizationFolders(dataDir: string): CustomizationsOptions {
  const home = io().home;
  return {
    userFolder: path.join(home, '.agents'),
    userConfigFile: userConfigFile({ platform: process.platform, env: io().env, home }),
    dataFolder: path.join(dataDir, 'plugins'),
  };
}

interface Listeners {
  readonly listener: Listener;
  readonly gateway: OpenGateway | undefined;
}

async function openListeners(settings: ServeSettings, host: Host, logger: Logger): Promise<Listeners> {
  let gateway: OpenGateway | undefined;
  try {
    gateway = await openGateway(settings, host, logger);
    const listener = settings.stdio ? openStdio(host, logger) : await openNetwork(settings, host, logger);
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
function greeting({ quiet, dataDir, token: choice }: ServeSettings, { listener, gateway, agents }: Running): string {
  const { address } = listener;
  if (address.at === 'stdio') return '';
  if (quiet) return `READY:${address.port}\n`;
  const names = agents.map(({ info }) => info.displayName);
  const token = io().stdout.isTTY && choice.kind !== 'none' ? choice.text : undefined;
  return startScreen({ ...address, token, dataDir, gatewayUrl: gateway?.url, agents: names });
}

/** The host stops first: it stores what it has accepted before connections close. */
async function stop(host: Host, listener: Listener, gateway: OpenGateway | undefined): Promise<void> {
  listener.stopAccepting();
  try {
    await host.stop();
  } finally {
    await Promise.all([listener.close(), gateway?.close()]);
  }
}

async function inTime(stopped: Promise<void>): Promise<void> {
  const timer = new AbortController();
  const tooLate = new Promise<never>((_, reject) => {
    const timeout = setTimeout(() => reject(new Error(`did not stop within ${STOP_TIMEOUT_MS} ms`)), STOP_TIMEOUT_MS);
    timer.signal.addEventListener('abort', () => clearTimeout(timeout));
  });
  await Promise.race([stopped, tooLate]).finally(() => timer.abort());
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface StopSignal {
  /** Fulfilled with the name of the first signal. */
  readonly asked: Promise<string>;
  release(): void;
}

function stopSignal(): StopSignal {
  let handler: (signal: string) => void = () => {};
  const asked = new Promise<string>((resolve) => {
    let count = 0;
    handler = (signal) => {
      count += 1;
      if (count > 1) io().exit(ExitCode.Failed);
      resolve(signal);
    };
  });
  for (const name of SIGNALS) io().signals.on(name, handler);
  return {
    asked,
    release() {
      for (const name of SIGNALS) io().signals.off(name, handler);
    },
  };
}
