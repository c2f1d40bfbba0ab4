/**
 * The settings of one of several hosts: the address of the engine, the id of this host, and how the others reach it.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { DRAIN_MS, type EngineUrl, engineUrl, linkAddress } from '@atrium/host/cluster';
import { UsageError } from '../exit.js';
import type { TokenChoice } from './settings.js';

/** A shorter secret could be guessed. */
export const SECRET_MIN_CHARACTERS = 16;
const HOST_ID = /^[\w.-]{1,64}$/;

export interface ClusterSettings {
  readonly url: EngineUrl;
  readonly hostId: string;
  readonly token: string;
  /** The address at which the others reach this host. Without it they wait longer before they take over. */
  readonly link: { readonly address: string; readonly secret: string } | undefined;
  readonly sharedDir: string | undefined;
  readonly drainMs: number;
  /** Runs programs for the active host. */
  readonly works: boolean;
}

/** Named as commander does. */
export interface ClusterOptions {
  readonly stdio?: boolean;
  readonly exitWhenIdle?: number | true;
  readonly hostId?: string;
  readonly linkAddress?: string;
  readonly clusterSecretFile?: string;
  readonly sharedDir?: string;
  readonly work?: boolean;
  /** In seconds. */
  readonly drain?: number;
}

interface Given {
  readonly token: TokenChoice;
  readonly env: NodeJS.ProcessEnv;
}

export async function clusterFrom(options: ClusterOptions, { token, env }: Given): Promise<ClusterSettings> {
  if (options.stdio)
    throw new UsageError('--cluster: a host on standard input and output runs alone. Leave out --stdio.');
  if (options.exitWhenIdle !== undefined)
    throw new UsageError('--cluster: a host that stands by is idle. Leave out --exit-when-idle.');
  if (token.kind !== 'file' && token.kind !== 'given')
    throw new UsageError('--cluster: all hosts need the same token. Name its file with --connection-token-file.');
  const url = engineFrom(env);
  // Programs that agents start inherit the environment and must not reach the engine.
  delete env.ATRIUM_CLUSTER_URL;
  delete env.PGPASSWORD;
  const { hostId = hostname(), sharedDir, drain, work = false } = options;
  if (!HOST_ID.test(hostId))
    throw new UsageError(`--host-id: "${hostId}" is no id. Use letters, digits and . _ -, at most 64.`);
  if (work && options.linkAddress === undefined)
    throw new UsageError('--work: the active host reaches this one over the link. Name --link-address, too.');
  return {
    ...{ url, hostId, token: token.text, works: work },
    link: await linkFrom(options),
    sharedDir: sharedDir === undefined ? undefined : path.resolve(sharedDir),
    drainMs: drain === undefined ? DRAIN_MS : drain * 1_000,
  };
}

/** The engine's address, from the environment: others on this machine could read a password on a command line. */
export function engineFrom(env: NodeJS.ProcessEnv): EngineUrl {
  const text = env.ATRIUM_CLUSTER_URL;
  if (!text)
    throw new UsageError(
      'Say where the engine is: export ATRIUM_CLUSTER_URL=postgres://atrium@db.internal/atrium?sslmode=verify-full',
    );
  return engineUrl(text, passwordFrom(env));
}

/** A password in the address counts first; without any of these, the file that PGPASSFILE names. */
function passwordFrom({ PGPASSWORD, ATRIUM_CLUSTER_PASSWORD_FILE: file }: NodeJS.ProcessEnv): string | undefined {
  if (PGPASSWORD || !file) return PGPASSWORD;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(
      `ATRIUM_CLUSTER_PASSWORD_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}

async function linkFrom({ linkAddress: address, clusterSecretFile: file }: ClusterOptions) {
  if (address === undefined) return undefined;
  if (!linkAddress(address))
    throw new UsageError(`--link-address: "${address}" is no address. Write it as a.internal:9500`);
  if (file === undefined)
    throw new UsageError('--link-address: hosts prove to each other who they are. Name --cluster-secret-file, too.');
  const secret = await readFile(file, 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      throw new UsageError(`--cluster-secret-file: ${file} cannot be read (${error.code ?? error.message}).`);
    },
  );
  if (secret.length < SECRET_MIN_CHARACTERS)
    throw new UsageError(
      `--cluster-secret-file: ${file} needs at least ${SECRET_MIN_CHARACTERS} characters. Make it with: openssl rand -base64 32`,
    );
  return { address, secret };
}
