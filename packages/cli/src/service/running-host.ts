/** The host of a data folder, if one runs: where it is, and with which token it is reached. */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { type Instance, runningInstances } from '@atrium/host/instances';

/** On one machine a port answers at once, or nobody is there. */
const ANSWER_TIMEOUT_MS = 1_000;

export interface RunningHost {
  readonly instance: Instance;
  readonly token: string | undefined;
}

export async function findHost(dataDir: string): Promise<RunningHost | undefined> {
  for (const instance of await runningInstances(dataDir)) {
    if (!(await answers(instance))) continue;
    const { tokenFile } = instance;
    const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, 'utf8')).trim();
    return { instance, token };
  }
  return undefined;
}

/** A process may be dead and still be listed, or its number may belong to another one by now. */
function answers({ url }: Instance): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) });
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
