/** Checks of the machine: the version of Node, the data folder, room on the disk, ports. */
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { type Finding, fine, problem, warning } from './finding.js';

const NODE_LEAST = [20, 19] as const;
const OTHERS = 0o077;
/** Below this a long session may fill the disk. */
const DISK_ADVISED_BYTES = 500 * 2 ** 20;
const DISK_LEAST_BYTES = 20 * 2 ** 20;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = NODE_LEAST;
  const isNew = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  if (isNew) return fine('node', `Node ${version}`);
  const least = NODE_LEAST.join('.');
  return problem('node', `Node ${version} is too old`, `Install Node ${least} or newer: https://nodejs.org`);
}

export async function checkFolder(dataDir: string): Promise<Finding> {
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

/** A folder that is not there yet can be made only where one may write. */
async function checkParent(dataDir: string): Promise<Finding> {
  const parent = await existing(dataDir);
  const remedy = 'Name another folder with --data-dir';
  if (!(await stat(parent)).isDirectory()) return problem('data', `${parent} is a file`, remedy);
  // The root user may write everywhere, but not into what the system makes up, such as /proc.
  const isWritable = await access(parent, constants.W_OK).then(
    () => !/^\/(proc|sys)(\/|$)/.test(parent),
    () => false,
  );
  if (isWritable) return fine('data', `${dataDir} will be made when a host starts`);
  return problem('data', `${dataDir} cannot be made in ${parent}`, remedy);
}

export async function checkDisk(dataDir: string): Promise<Finding> {
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

/** Only of use while no host has the port itself. */
export async function checkPort(about: string, port: number, option: string): Promise<Finding> {
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
