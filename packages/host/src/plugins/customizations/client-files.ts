/**
 * The files of a published plugin: read on this machine if its folder is here, otherwise requested from the client one
 * by one.
 */
import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { ErrorCode, ROOT_CHANNEL } from '@atrium/protocol/ahp-1';
import { CLIENT_REQUEST_TIMEOUT_MS, CLIENT_REQUESTS_MAX, FOLDER_MAX_ENTRIES } from '../formats/limits.js';
import {
  baseName,
  byCodeUnits,
  type FileEntry,
  FileProblem,
  localFiles,
  type PluginFiles,
  parentOf,
} from '../formats/plugin-files.js';
import { LoadFailure } from '../formats/warnings.js';
import type { ClientConnection } from './ports.js';

/** The folder of a `file:` URI; undefined for everything else. */
export function localFolder(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

/** A client may be on another machine, together with its files. */
export async function publishedFiles(plugin: ClientPlugin): Promise<PluginFiles> {
  const folder = localFolder(plugin.uri);
  return folder !== undefined && (await exists(folder)) ? localFiles(folder) : clientFiles(plugin);
}

function exists(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}

interface ClientPlugin {
  readonly uri: string;
  /** The connection at the time of a request; undefined when the client is not connected. */
  connection(): ClientConnection | undefined;
}

/** Requests each list once and keeps it, so these files serve one read of the plugin. */
export function clientFiles(plugin: ClientPlugin): PluginFiles {
  const lists = new Map<string, Promise<readonly FileEntry[] | undefined>>();
  const requests = new ClientRequests(plugin);
  const list = (path: string): Promise<readonly FileEntry[] | undefined> => {
    const known = lists.get(path) ?? listAt(path);
    lists.set(path, known);
    return known;
  };
  const entryAt = async (path: string): Promise<FileEntry | undefined> =>
    (await list(parentOf(path)))?.find(({ name }) => name === baseName(path));
  const listAt = async (path: string) => {
    if (path !== '' && (await entryAt(path))?.kind !== 'folder') return undefined;
    return requests.list(path);
  };
  return {
    list,
    read: async (path, maxBytes) =>
      (await entryAt(path))?.kind === 'file' ? requests.read(path, maxBytes) : undefined,
    uri: (path) => uriOf(plugin.uri, path),
  };
}

function uriOf(base: string, path: string): string {
  const root = base.replace(/\/+$/, '');
  return path === '' ? base : `${root}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

class ClientRequests {
  readonly #plugin: ClientPlugin;
  #requests = 0;

  constructor(plugin: ClientPlugin) {
    this.#plugin = plugin;
  }

  async list(path: string): Promise<readonly FileEntry[] | undefined> {
    const found = await this.#request(path, (connection, uri) =>
      connection.request('resourceList', { channel: ROOT_CHANNEL, uri }, CLIENT_REQUEST_TIMEOUT_MS),
    );
    if (!found) return undefined;
    if (found.entries.length > FOLDER_MAX_ENTRIES) throw tooLarge(path, `${FOLDER_MAX_ENTRIES} entries`);
    return found.entries
      .filter(({ name }) => isBaseName(name))
      .map(({ name, type }): FileEntry => ({ name, kind: type === 'directory' ? 'folder' : 'file' }))
      .sort((a, b) => byCodeUnits(a.name, b.name));
  }

  async read(path: string, maxBytes: number): Promise<string | undefined> {
    const found = await this.#request(path, (connection, uri) => {
      const params = { channel: ROOT_CHANNEL, uri, encoding: 'utf-8' } as const;
      return connection.request('resourceRead', params, CLIENT_REQUEST_TIMEOUT_MS);
    });
    if (!found) return undefined;
    const bytes = Buffer.from(found.data, found.encoding === 'base64' ? 'base64' : 'utf8');
    if (bytes.length > maxBytes) throw tooLarge(path, `${maxBytes} bytes`);
    return bytes.toString('utf8');
  }

  /** Undefined for a file that does not exist. Throws `LoadFailure` when the client cannot be reached. */
  async #request<Result>(
    path: string,
    send: (connection: ClientConnection, uri: string) => Promise<Result>,
  ): Promise<Result | undefined> {
    if (path.split('/').includes('..')) {
      throw new FileProblem('path-escapes', `"${path}" leads out of the plugin, so it is left out.`);
    }
    if (++this.#requests > CLIENT_REQUESTS_MAX) throw unreachable('it has too many files');
    const connection = this.#plugin.connection();
    if (!connection) throw unreachable('its client is not connected');
    try {
      return await send(connection, uriOf(this.#plugin.uri, path));
    } catch (error) {
      return answered(error, path);
    }
  }
}

function answered(error: unknown, path: string): undefined {
  if (!(error instanceof RequestError)) throw error;
  const { code, message } = error;
  if (path === '' || code === ErrorCode.MethodNotFound || code === ErrorCode.InternalError) throw unreachable(message);
  if (code === ErrorCode.NotFound) return undefined;
  throw new FileProblem('path-missing', `"${path}" cannot be read: its client answered ${code}.`);
}

function unreachable(why: string): LoadFailure {
  return new LoadFailure(`Its content cannot be read: ${why}.`);
}

function tooLarge(path: string, limit: string): FileProblem {
  return new FileProblem('limit-exceeded', `"${path}" has more than ${limit}, so it is not read.`);
}

function isBaseName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}
