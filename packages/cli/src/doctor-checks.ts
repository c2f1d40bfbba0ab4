/** `atrium doctor`: all checks, in the order in which they depend on each other, each with what to do about it. */
import { constants } from 'node:fs';
import { access, readdir, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { connect } from '@atrium/client';
import { DAMAGE_MEMBER, type DamageReport, openSqliteLog, storedReports } from '@atrium/host';
import { INSTANCES_FOLDER, isProcessAlive } from '@atrium/host/instances';
import { agentReport, askHost } from './agents/agent-report.js';
import { findAgents } from './agents/find-agents.js';
import { DEFAULT_GATEWAY_PORT, DEFAULT_PORT } from './commands/serve.js';
import { io } from './io.js';
import { version } from './places.js';
import { scriptsFrom } from './serve/settings.js';
import { findHost, type RunningHost } from './service/running-host.js';
import { trustedFolders } from './trusted-folders.js';
import { HOW_TO_UPDATE, isSwitchedOn, newerVersion } from './update-notice.js';

export interface Finding {
  /** The subject of the check, in a word. */
  readonly about: string;
  readonly state: 'fine' | 'warning' | 'problem';
  readonly text: string;
  /** What to do; absent if nothing is wrong. */
  readonly remedy?: string;
}

export function fine(about: string, text: string): Finding {
  return { about, state: 'fine', text };
}

export function warning(about: string, text: string, remedy: string): Finding {
  return { about, state: 'warning', text, remedy };
}

export function problem(about: string, text: string, remedy: string): Finding {
  return { about, state: 'problem', text, remedy };
}

export async function examine(dataDir: string): Promise<Finding[]> {
  const stale = await settled('instances', checkStale(dataDir));
  const found = await findHost(dataDir).catch(() => undefined);
  const port = Number(io().env.ATRIUM_PORT ?? DEFAULT_PORT);
  const gatewayPort = Number(io().env.ATRIUM_GATEWAY_PORT ?? DEFAULT_GATEWAY_PORT);
  const ports = found
    ? [fine('port', `${found.instance.port}, in use by the host`)]
    : [
        ...(port === 0 ? [] : await settled('port', checkPort('port', port, '--port'))),
        ...(gatewayPort === 0 ? [] : await settled('gateway', checkPort('gateway', gatewayPort, '--gateway-port'))),
      ];
  return [
    checkNode(process.versions.node),
    ...(await settled('data', checkFolder(dataDir))),
    ...(await settled('disk', checkDisk(dataDir))),
    ...stale,
    ...(await settled('host', checkHost(found))),
    ...(await settled('token', checkToken(found))),
    ...ports,
    ...(await settled('log', checkLog(dataDir, found))),
    ...(await settled('agents', checkAgents(dataDir, found))),
    ...(await settled('trust', checkTrust(dataDir))),
    ...(await settled('update', checkUpdate())),
  ];
}

async function settled(about: string, check: Promise<Finding | Finding[]>): Promise<Finding[]> {
  try {
    return [await check].flat();
  } catch (error) {
    return [problem(about, error instanceof Error ? error.message : String(error), 'Look at the message above')];
  }
}

/** Empty unless the user has switched the notice on: without it nothing is known. */
async function checkUpdate(): Promise<Finding[]> {
  const newer = await newerVersion();
  if (newer !== undefined)
    return [warning('update', `Atrium ${newer} is out; this is ${version()}`, `Run: ${HOW_TO_UPDATE}`)];
  return (await isSwitchedOn()) ? [fine('update', `Atrium ${version()}; no newer one is known`)] : [];
}

// The machine: Node, the data folder, free space, ports.

const NODE_LEAST = [20, 19] as const;
/** Below this a long session may fill the disk. */
const DISK_ADVISED_BYTES = 500 * 2 ** 20;
const DISK_LEAST_BYTES = 20 * 2 ** 20;

function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = NODE_LEAST;
  const isNew = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  if (isNew) return fine('node', `Node ${version}`);
  const least = NODE_LEAST.join('.');
  return problem('node', `Node ${version} is too old`, `Install Node ${least} or newer: https://nodejs.org`);
}

async function checkFolder(dataDir: string): Promise<Finding> {
  const found = await stat(dataDir).catch(() => undefined);
  if (!found) return checkParent(dataDir);
  if (!found.isDirectory()) return problem('data', `${dataDir} is a file`, 'Name another folder with --data-dir');
  const isWritable = await access(dataDir, constants.W_OK | constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) return problem('data', `you may not write into ${dataDir}`, `Run: chmod u+rwx ${dataDir}`);
  if (process.platform !== 'win32' && (found.mode & OTHERS) !== 0)
    return warning('data', `${dataDir} is open to other users`, `Run: chmod 700 ${dataDir}`);
  return fine('data', dataDir);
}

/** A missing folder can be made only inside a writable one. */
async function checkParent(dataDir: string): Promise<Finding> {
  const parent = await existing(dataDir);
  const remedy = 'Name another folder with --data-dir';
  if (!(await stat(parent)).isDirectory()) return problem('data', `${parent} is a file`, remedy);
  // Root may write everywhere, except into virtual folders such as /proc.
  const isWritable = await access(parent, constants.W_OK).then(
    () => !/^\/(proc|sys)(\/|$)/.test(parent),
    () => false,
  );
  if (isWritable) return fine('data', `${dataDir} will be made when a host starts`);
  return problem('data', `${dataDir} cannot be made in ${parent}`, remedy);
}

async function checkDisk(dataDir: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(await existing(dataDir));
  const free = bavail * bsize;
  const text = `${Math.floor(free / 2 ** 20)} MiB free`;
  const remedy = 'Make room, or move the data folder with --data-dir';
  if (free < DISK_LEAST_BYTES) return problem('disk', `${text}: the host cannot store anything`, remedy);
  return free < DISK_ADVISED_BYTES ? warning('disk', text, remedy) : fine('disk', text);
}

async function existing(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere || folder === path.dirname(folder) ? folder : existing(path.dirname(folder));
}

/** Useful only while no host has the port itself. */
async function checkPort(about: string, port: number, option: string): Promise<Finding> {
  const code = await listenError(port);
  if (code === undefined) return fine(about, `port ${port} is free`);
  if (code === 'EACCES')
    return problem(about, `port ${port} needs more rights`, `Use a port above 1023: ${option} <port>`);
  return warning(about, `port ${port} is taken by another program`, `Stop it, or start the host with ${option} 0`);
}

function listenError(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
    server.listen({ port, host: 'localhost' }, () => server.close(() => resolve(undefined)));
  });
}

// The host: whether it runs and answers, instance files of dead hosts, its token, its log.

const OTHERS = 0o077;
/** How long the command mentions repaired damage. */
const DAMAGE_TOLD_MS = 30 * 24 * 60 * 60 * 1_000;

/** Runs before the other checks, because looking for a running host removes these files. */
async function checkStale(dataDir: string): Promise<Finding> {
  const folder = path.join(dataDir, INSTANCES_FOLDER);
  const names = await readdir(folder).catch(() => []);
  const dead = names.map((name) => Number.parseInt(name, 10)).filter((pid) => pid > 0 && !isProcessAlive(pid));
  if (dead.length === 0) return fine('instances', 'no note of a dead host is left');
  const text = `a host ended without saying so (process ${dead.join(', ')})`;
  return warning('instances', text, 'Nothing: the note was removed, and the next host ends what was cut off');
}

async function checkHost(found: RunningHost | undefined): Promise<Finding> {
  if (!found) return fine('host', 'none is running; commands start one when they need it');
  const { url, pid } = found.instance;
  if (found.tokenProblem !== undefined) return fine('host', `${url} is there (process ${pid})`);
  try {
    const client = await connect({ url, ...(found.token !== undefined && { token: found.token }), log: () => {} });
    const { protocolVersion } = client.host;
    client.close();
    return fine('host', `${url} answers (process ${pid}, protocol ${protocolVersion})`);
  } catch (error) {
    const text = `${url} does not let us in: ${error instanceof Error ? error.message : String(error)}`;
    return problem('host', text, 'Run: atrium service stop, then atrium service start');
  }
}

async function checkToken(found: RunningHost | undefined): Promise<Finding> {
  if (!found) return fine('token', 'a host makes one when it starts, and keeps it');
  if (found.tokenProblem !== undefined)
    return problem(
      'token',
      `${found.instance.tokenFile} cannot be read`,
      'Run: atrium service stop, then atrium service start',
    );
  const { tokenFile } = found.instance;
  if (tokenFile === undefined)
    return warning(
      'token',
      'the host lets everybody on this machine in',
      'Start it without --without-connection-token',
    );
  const { mode } = await stat(tokenFile);
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
    return problem('token', `${tokenFile} can be read by other users`, `Run: chmod 600 ${tokenFile}`);
  return fine('token', tokenFile);
}

/** Opens the log as the next host would, and makes the same repairs. */
async function checkLog(dataDir: string, found: RunningHost | undefined): Promise<Finding[]> {
  if (found) return logFindings('in use by the host, which checked it when it started', await reportsOf(found));
  const isThere = await stat(path.join(dataDir, 'atrium.db')).then(
    () => true,
    () => false,
  );
  if (!isThere) return [fine('log', 'nothing is stored yet')];
  try {
    const log = await openSqliteLog({ dataDir });
    const { repairs, head } = log;
    const earlier = await storedReports(log);
    await log.close();
    const now = repairs.map((repair) => ({ ...repair, time: Date.now() }));
    return logFindings(`whole; ${head} actions so far`, [...earlier, ...now]);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [problem('log', text, 'Name another data folder with --data-dir, and keep this one for an expert')];
  }
}

function logFindings(whole: string, reports: readonly DamageReport[]): Finding[] {
  const recent = reports.filter(({ time }) => time > Date.now() - DAMAGE_TOLD_MS);
  if (recent.length === 0) return [fine('log', whole)];
  return recent.map(({ time, message, keptAt }) => {
    const day = new Date(time).toISOString().slice(0, 10);
    return warning('log', `damage was found and mended on ${day}: ${message}`, keptText(keptAt));
  });
}

/** A running host has the log open; it tells every client which damage it found. */
async function reportsOf({
  instance,
  token,
  certificate,
  tokenProblem,
}: RunningHost): Promise<readonly DamageReport[]> {
  if (tokenProblem !== undefined) return [];
  try {
    const way = { ...(token !== undefined && { token }), ...(certificate !== undefined && { certificate }) };
    const client = await connect({ url: instance.url, ...way, log: () => {} });
    const told: Readonly<Record<string, unknown>> = client.host;
    client.close();
    return (told[DAMAGE_MEMBER] ?? []) as readonly DamageReport[];
  } catch {
    // Another check reports whether the host lets us in.
    return [];
  }
}

function keptText(keptAt: string | undefined): string {
  return keptAt === undefined ? 'Nothing: go on' : `Nothing: what could not be read is kept in ${keptAt}`;
}

// The setup: agents, configuration, trusted folders.

/** Agents that need no model are only for trying things out. */
const WITHOUT_MODEL = new Set(['built-in', 'script']);

/** A host does not say where its agents come from, but the agent without a model has a name of its own. */
function isReal(source: string, provider: string): boolean {
  return !WITHOUT_MODEL.has(source) && provider !== 'offline';
}

/** Asks the running host, if there is one, because this shell may find other agents than the host. */
async function checkAgents(dataDir: string, host: RunningHost | undefined): Promise<Finding[]> {
  try {
    const trust = trustedFolders(dataDir);
    const here = agentReport(await findAgents({ dataDir, trust, scripts: scriptsFrom(io().env) }));
    const report = host ? await askHost(host, dataDir, here) : here;
    const real = report.agents.filter(({ found, source, provider }) => found && isReal(source, provider));
    const where = host ? ` (the host ${host.instance.url}, data folder ${dataDir})` : ' (as a host started here would)';
    const names = real.map(({ provider }) => (provider === report.default ? `${provider}*` : provider)).join(', ');
    const agents =
      real.length > 0
        ? fine('agents', `${names}${where}`)
        : warning('agents', `no agent with a model was found${where}`, 'See how to get one: atrium agents');
    const { warnings, waitingForTrust } = report.config;
    const remedy = 'Change the file; docs/configuration.md has every key';
    const waiting = waitingForTrust
      ? [warning('config', `${waitingForTrust.file} is not used: its folder is not trusted`, 'Run: atrium trust .')]
      : [];
    return [agents, ...warnings.map((text) => warning('config', text, remedy)), ...waiting];
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [problem('config', text, 'Change the file as it says')];
  }
}

async function checkTrust(dataDir: string): Promise<Finding> {
  const folders = await trustedFolders(dataDir).list();
  const gone: string[] = [];
  for (const folder of folders) if (!(await stat(folder).catch(() => undefined))) gone.push(folder);
  if (gone.length > 0)
    return warning(
      'trust',
      `trusted folders that do not exist: ${gone.join(', ')}`,
      'Run: atrium trust --remove <folder>',
    );
  return fine('trust', folders.length === 0 ? 'no folder is trusted' : `${folders.length} trusted folders`);
}
