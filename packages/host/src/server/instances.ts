/** How local programs find running hosts: one small file per instance, without the token. */
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '@atrium/core/util/folders.js';
import { writePrivateFile } from '@atrium/core/util/secrets.js';

export const INSTANCES_FOLDER = 'instances';

export interface Instance {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  /** Where to connect; without the token. */
  readonly url: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** The file with the token, which only its owner can read; absent when the host needs none. */
  readonly tokenFile?: string | undefined;
  /** The file with the certificate by which local programs recognise the host; absent without TLS. */
  readonly certificateFile?: string | undefined;
}

/** Announces an instance; the returned function withdraws it. */
export async function announceInstance(dataFolder: string, instance: Instance): Promise<() => Promise<void>> {
  const folder = path.join(dataFolder, INSTANCES_FOLDER);
  const file = path.join(folder, `${instance.pid}.json`);
  await makeFolder(folder, { mode: 0o700 });
  await writePrivateFile(file, `${JSON.stringify(instance)}\n`);
  return () => rm(file, { force: true });
}

/** Lists the running instances, oldest first, and removes the files of dead ones. */
export async function runningInstances(dataFolder: string, isAlive = isProcessAlive): Promise<Instance[]> {
  const folder = path.join(dataFolder, INSTANCES_FOLDER);
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => /^\d+\.json$/.test(name)).map((name) => path.join(folder, name));
  const found = await Promise.all(files.map((file) => readIfAlive(file, isAlive)));
  return found.filter((instance) => instance !== undefined).sort((a, b) => a.startedAt.localeCompare(b.startedAt));
}

async function readIfAlive(file: string, isAlive: (pid: number) => boolean): Promise<Instance | undefined> {
  const pid = Number.parseInt(path.basename(file), 10);
  if (!isAlive(pid)) {
    await rm(file, { force: true });
    return undefined;
  }
  const instance = await readFile(file, 'utf8').then(parsed, () => undefined);
  return instance?.pid === pid ? instance : undefined;
}

function parsed(text: string): Instance | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isInstance(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isInstance(value: unknown): value is Instance {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, host, port, url, startedAt, tokenFile, certificateFile } = value as Record<keyof Instance, unknown>;
  const numbers = typeof pid === 'number' && typeof port === 'number';
  const texts = [host, url, startedAt].every((text) => typeof text === 'string');
  const files = [tokenFile, certificateFile].every((file) => file === undefined || typeof file === 'string');
  return numbers && texts && files;
}

/** Signal 0 is never delivered. A process that we may not signal is alive, too. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
