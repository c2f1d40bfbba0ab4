/** The content of a file while somebody looks at it: read, and read again when it changes. */
import type { Client } from '@atrium/client';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { accessProblem, isAskable } from './entries.js';
import { watch } from './watch.js';

/** Longer texts are for editors. */
const TEXT_MAX_BYTES = 2 ** 20;
/** As much as the host sends in one answer. */
const IMAGE_MAX_BYTES = 4 * 2 ** 20;
const CALM_MS = 250;
const IMAGE = /^image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|svg\+xml)$/;

export type FileContent =
  | { readonly kind: 'loading' }
  /** `isAskable`: people could allow it. */
  | { readonly kind: 'problem'; readonly why: string; readonly isAskable: boolean }
  | { readonly kind: 'text'; readonly text: string }
  /** A `data:` URI. As the source of a picture it can run nothing, an SVG neither. */
  | { readonly kind: 'image'; readonly source: string }
  | { readonly kind: 'binary'; readonly bytes: number | undefined }
  | { readonly kind: 'large'; readonly bytes: number };

/** Reads it again when `attempt` changes. */
export function useFile(uri: string, attempt: number): FileContent {
  const { client } = useHost();
  const [content, setContent] = useState<FileContent>({ kind: 'loading' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: an attempt is a reason to read again
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      timer = undefined;
      const next = await load(client, uri);
      if (!isOver) setContent((last) => (isSame(last, next) ? last : next));
    };
    setContent({ kind: 'loading' });
    void read();
    const watched = watch(client, uri, () => {
      timer ??= setTimeout(() => void read(), CALM_MS);
    });
    return () => {
      isOver = true;
      clearTimeout(timer);
      watched.close();
    };
  }, [client, uri, attempt]);
  return content;
}

async function load(client: Client, uri: string): Promise<FileContent> {
  try {
    const { type, size, contentType = '' } = await client.request('resourceResolve', { uri });
    if (type === 'directory') return { kind: 'problem', why: 'This is a folder.', isAskable: false };
    const isImage = IMAGE.test(contentType);
    const most = isImage ? IMAGE_MAX_BYTES : TEXT_MAX_BYTES;
    if (size !== undefined && size > most) return { kind: 'large', bytes: size };
    if (isImage) {
      const { data } = await client.request('resourceRead', { uri, encoding: 'base64' });
      return { kind: 'image', source: `data:${contentType};base64,${data}` };
    }
    const { data, encoding } = await client.request('resourceRead', { uri, encoding: 'utf-8' });
    return encoding === 'base64' ? { kind: 'binary', bytes: size } : { kind: 'text', text: data };
  } catch (error) {
    return { kind: 'problem', why: accessProblem(error, 'file'), isAskable: isAskable(error) };
  }
}

function isSame(one: FileContent, other: FileContent): boolean {
  return one.kind === 'text' && other.kind === 'text' && one.text === other.text;
}
