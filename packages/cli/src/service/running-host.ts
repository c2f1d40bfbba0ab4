/** The running host of a data folder: its address and its token. */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { type Instance, runningInstances } from '@atrium/host/instances';

/** On the same machine an open port answers at once. */
const ANSWER_TIMEOUT_MS = 1_000;

export interface RunningHost {
  readonly instance: Instance;
  readonly token: string | undefined;
  /** Why the token cannot be read, and what to do about it. */
  readonly tokenProblem?: string;
  /** The certificate of a host with TLS. It may be for another name than the one in `url`. */
  readonly certificate?: string;
}

export async function findHost(dataDir: string): Promise<RunningHost | undefined> {
  for (const instance of await runningInstances(dataDir)) {
    if (!(await answers(instance))) continue;
    return { instance, ...(await tokenOf(instance)), ...(await certificateOf(instance)) };
  }
  return undefined;
}

/** A host whose token file is gone still runs: commands can show and stop it. */
async function tokenOf({ tokenFile, pid }: Instance): Promise<Pick<RunningHost, 'token' | 'tokenProblem'>> {
  if (tokenFile === undefined) return { token: undefined };
  try {
    return { token: (await readFile(tokenFile, 'utf8')).trim() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'is not there any more' : `cannot be read (${code})`;
    const remedy = 'To get a new one: atrium service stop, then atrium service start';
    return {
      token: undefined,
      tokenProblem: `a host runs (process ${pid}), but its token ${tokenFile} ${why}. ${remedy}`,
    };
  }
}

async function certificateOf({ certificateFile }: Instance): Promise<Pick<RunningHost, 'certificate'>> {
  const certificate = certificateFile && (await readFile(certificateFile, 'utf8').catch(() => undefined));
  return certificate ? { certificate } : {};
}

/** True if a host has the folder and does not answer, because it is about to stop. */
export async function isLeaving(dataDir: string): Promise<boolean> {
  const instances = await runningInstances(dataDir);
  const answered = await Promise.all(instances.map(answers));
  return answered.includes(false);
}

/** A listed process may be dead, or its number may belong to another process now. */
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
