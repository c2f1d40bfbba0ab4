/**
 * Reading and writing a file of the host. Every write says which version it replaces. When somebody else was faster, the
 * file is looked at again and the conflict shown; it is never written over without a word from the person.
 */
import { type Client, RequestError } from '@atrium/client';
import { ErrorCode } from '@atrium/protocol';

export interface LoadedFile {
  readonly text: string;
  /** Names this version; absent when the host does not tell versions apart. */
  readonly etag: string | undefined;
}

export type SaveResult =
  | { readonly kind: 'saved'; readonly file: LoadedFile }
  /** The file as it is now, for a person to decide. */
  | { readonly kind: 'conflict'; readonly theirs: LoadedFile };

export async function loadFile(client: Client, uri: string): Promise<LoadedFile> {
  const { etag } = await client.request('resourceResolve', { uri });
  const { data } = await client.request('resourceRead', { uri, encoding: 'utf-8' });
  return { text: data, etag };
}

export async function saveFile(client: Client, uri: string, { text, etag }: LoadedFile): Promise<SaveResult> {
  const base = etag === undefined ? {} : { ifMatch: etag };
  try {
    await client.request('resourceWrite', { uri, data: text, encoding: 'utf-8', mode: 'truncate', ...base });
  } catch (error) {
    if (!(error instanceof RequestError) || error.code !== ErrorCode.Conflict) throw error;
    return { kind: 'conflict', theirs: await loadFile(client, uri) };
  }
  const { etag: now } = await client.request('resourceResolve', { uri });
  return { kind: 'saved', file: { text, etag: now } };
}
