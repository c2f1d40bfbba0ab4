/** The text on one side of a change, from wherever it is kept. */
import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@atrium/client';
import type { ContentRef } from '@atrium/protocol';

/** Larger files have no diff here, only the number of lines. */
export const CONTENT_MAX_BYTES = 512 * 1024;

export interface ContentPlace {
  readonly client: Client;
  /** Whether the host's files are those of this machine. */
  readonly isLocal: boolean;
}

/** Empty where there is no such side; undefined when it cannot be read, or is too large. */
export async function contentText(
  { client, isLocal }: ContentPlace,
  content: ContentRef | undefined,
): Promise<string | undefined> {
  if (content === undefined) return '';
  if ((content.sizeHint ?? 0) > CONTENT_MAX_BYTES) return undefined;
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(content.uri)?.[1];
  if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
  try {
    const { data, encoding } = await client.request('resourceRead', { uri: content.uri });
    return encoding === 'base64' ? Buffer.from(data, 'base64').toString('utf8') : data;
  } catch {
    return isLocal ? localText(content.uri) : undefined;
  }
}

async function localText(uri: string): Promise<string | undefined> {
  try {
    const file = fileURLToPath(uri);
    return (await stat(file)).size > CONTENT_MAX_BYTES ? undefined : await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}
