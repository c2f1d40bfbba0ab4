/** Runs a host from start to stop: opens what it needs, in order, and closes it in the other. */
import { pathToFileURL } from 'node:url';
import { type AgentBackend, builtinTools, createHost, type Host, type Logger, openSqliteLog } from '@atrium/host';
import { findAgents } from '../agents/find-agents.js';
import { tellAgents } from '../agents/tell-agents.js';
import { makePrivate } from '../data-folder.js';
import { lineLogger } from '../log-lines.js';
import type { OpenDoor } from './door.js';
import { openNetwork } from './network.js';
import type { ServeSettings } from './settings.js';
import { startScreen } from './start-screen.js';
import { openStdio } from './stdio.js';
import { stopSignal } from './stop-signal.js';

/** A stop that takes longer has failed: something hangs. */
const STOP_TIMEOUT_MS = 10_000;

export async function serveUntilStopped(settings: ServeSettings): Promise<void> {
  // Hides what stood on the command line, such as a token, from those who list processes.
  process.title = 'atrium serve';
  const logger = loggerFor(settings);
  const signal = stopSignal();
  try {
    const found = await findAgents(settings);
    tellAgents(found, logger);
    const { agents } = found;
    const host = await openHost(settings, agents, logger);
    const door = await openDoor(settings, host, logger);
    process.stdout.write(greeting(settings, door, agents));
    const reason = await Promise.race([signal.asked, door.ended]);
    logger.log('info', 'stopping', { reason });
    await inTime(stop(host, door));
    logger.log('info', 'stopped');
  } finally {
    signal.release();
  }
}

function loggerFor({ logLevel: level, logFormat: format, token }: ServeSettings): Logger {
  const secret = token.kind === 'none' ? undefined : token.text;
  return lineLogger({ level, format, secret, write: (line) => process.stderr.write(line) });
}

async function openHost({ dataDir }: ServeSettings, agents: readonly AgentBackend[], logger: Logger): Promise<Host> {
  await makePrivate(dataDir);
  const log = await openSqliteLog({ dataDir, logger });
  const defaultDirectory = pathToFileURL(process.cwd()).href;
  try {
    return await createHost({ log, agents, tools: builtinTools(), logger, defaultDirectory });
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function openDoor(settings: ServeSettings, host: Host, logger: Logger): Promise<OpenDoor> {
  try {
    return settings.stdio ? openStdio(host, logger) : await openNetwork(settings, host, logger);
  } catch (error) {
    await host.stop();
    throw error;
  }
}

/** Programs read the line with the port; people get a screen; a client on standard output gets neither. */
function greeting({ quiet, dataDir }: ServeSettings, { place }: OpenDoor, agents: readonly AgentBackend[]): string {
  if (place.at === 'stdio') return '';
  if (quiet) return `READY:${place.port}\n`;
  return startScreen({ ...place, dataDir, agents: agents.map(({ info }) => info.displayName) });
}

/** The host goes first: what it has accepted is stored before anybody is sent away. */
async function stop(host: Host, door: OpenDoor): Promise<void> {
  door.stopAccepting();
  try {
    await host.stop();
  } finally {
    await door.close();
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
